package gojudge

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// pressureFile reports how long programs have waited for a processor.
const pressureFile = "/proc/pressure/cpu"

// contention begins to measure contention for the machine's processors. The returned function ends the
// measurement and reports whether some process waited for a processor during at least half of the time. It
// returns true if that is unknown, as for another machine.
func (c *connection) contention() func() bool {
	unknown := func() bool { return true }
	if c.process == nil {
		return unknown
	}
	before, ok := stallTime()
	if !ok {
		return unknown
	}
	began := time.Now()
	return func() bool {
		after, ok := stallTime()
		return !ok || after-before >= time.Since(began)/2
	}
}

// stallTime returns how long, since the machine was started, at least one program has waited for a
// processor.
func stallTime() (time.Duration, bool) {
	text, err := os.ReadFile(pressureFile)
	if err != nil {
		return 0, false
	}
	return someStall(string(text))
}

// someStall reads the total of a file of pressure, such as
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds.
func someStall(text string) (time.Duration, bool) {
	line, _, _ := strings.Cut(text, "\n")
	_, total, found := strings.Cut(line, " total=")
	if !found || !strings.HasPrefix(line, "some ") {
		return 0, false
	}
	us, err := strconv.ParseInt(total, 10, 64)
	return time.Duration(us) * time.Microsecond, err == nil
}
