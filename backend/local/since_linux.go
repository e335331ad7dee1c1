package local

import (
	"bytes"
	"strconv"
	"sync"
	"time"
)

var (
	statFile    = procFile{name: "/proc/stat"}
	numbersFile = procFile{name: "/proc/sys/kernel/pid_max"}
	loadFile    = procFile{name: "/proc/loadavg"}
)

// since is a moment in the numbering of processes. The kernel assigns ascending numbers, so that until
// they wrap around, all processes that begin later have higher numbers. Examining thousands of older
// processes would take longer than most commands.
type since struct {
	pid   int    // number of a process begun then; 0 means unknown
	forks uint64 // forks since boot, up to shortly before
}

// forksSinceBoot counts processes and threads, of all namespaces; 0 means unknown.
func forksSinceBoot() (n uint64) {
	statFile.ask(func(stat []byte) {
		_, rest, _ := bytes.Cut(stat, []byte("\nprocesses "))
		digits, _, _ := bytes.Cut(rest, []byte("\n"))
		n, _ = strconv.ParseUint(string(digits), 10, 64)
	})
	return n
}

// countAge limits how long a count of the whole machine is valid for an earlier moment.
const countAge = time.Second

// count caches a count of the whole machine that never decreases.
type count struct {
	ask func() uint64

	mu   sync.Mutex
	last uint64
	when time.Time
}

// recent returns the count at some recent moment before now.
func (c *count) recent() uint64 {
	return c.noOlderThan(countAge)
}

// now returns the current count.
func (c *count) now() uint64 { return c.noOlderThan(0) }

// noOlderThan returns the count at some moment within the last age.
func (c *count) noOlderThan(age time.Duration) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.when.IsZero() || now.Sub(c.when) >= age {
		c.last, c.when = c.ask(), now
	}
	return c.last
}

// forksAge limits the age of a fork count that shows whether numbers have wrapped around: no machine
// assigns thousands of numbers in that time.
const forksAge = 10 * time.Millisecond

// forks is the machine's fork count. Commands that begin within the same second share a count: more forks
// then seem to have happened since, so searches fall back to all processes slightly earlier than
// necessary.
var forks = count{ask: forksSinceBoot}

// first returns the lowest number that a process begun since s can have: 0 if the numbers might have wrapped around.
func (s since) first() int {
	most, begun := mostNumbers(), forks.noOlderThan(forksAge)
	if s.pid == 0 || s.forks == 0 || most == 0 || lastNumber() < s.pid || begun < s.forks || begun-s.forks >= uint64(most)/2 {
		return 0
	}
	return s.pid
}

// lastNumber returns the last assigned process number in this namespace; 0 means unknown.
func lastNumber() (n int) {
	loadFile.ask(func(average []byte) {
		average = bytes.TrimRight(average, "\n")
		n, _ = strconv.Atoi(string(average[bytes.LastIndexByte(average, ' ')+1:]))
	})
	return n
}

// mostNumbers returns how many process numbers exist; 0 means unknown.
func mostNumbers() (n int) {
	numbersFile.ask(func(text []byte) { n, _ = strconv.Atoi(string(bytes.TrimSpace(text))) })
	return n
}
