package local

import (
	"bytes"
	"math"
	"os"
	"strconv"
)

// since is a moment in the numbering of processes. The kernel hands numbers out
// in turn, so that until they have gone round, whatever was begun later has a
// higher one; reading what thousands of older processes carry would take longer
// than most commands do.
type since struct {
	pid   int    // of a process begun then; 0 is unknown
	forks uint64 // since boot, up to a moment before
}

// forksSinceBoot counts processes and threads, of all namespaces; 0 is
// unknown.
func forksSinceBoot() uint64 {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(stat, []byte("\nprocesses "))
	digits, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseUint(string(digits), 10, 64)
	return n
}

// numbers are the lowest and the highest that a process begun between s and now
// can have. They are all there are when the numbers may have gone round since.
func (s since) numbers() (first, last int) {
	forks, last, most := forksSinceBoot(), lastNumber(), mostNumbers()
	if s.pid == 0 || s.forks == 0 || forks < s.forks || most == 0 || last < s.pid || forks-s.forks >= uint64(most)/2 {
		return 0, math.MaxInt
	}
	return s.pid, last
}

// lastNumber is the process number that was handed out last, in this
// namespace; 0 is unknown.
func lastNumber() int {
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(average)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[len(fields)-1]))
	return n
}

// mostNumbers is how many process numbers there are; 0 is unknown.
func mostNumbers() int {
	text, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(string(bytes.TrimSpace(text)))
	return n
}
