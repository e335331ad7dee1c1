package local

import (
	"bytes"
	"strconv"
	"sync"
	"time"
)

var (
	statFile    = procFile{name: "/proc/stat"}
	loadFile    = procFile{name: "/proc/loadavg"}
	numbersFile = procFile{name: "/proc/sys/kernel/pid_max"}
)

// since is a moment in the numbering of processes. The kernel hands numbers out
// in turn, so that until they have gone round, whatever was begun later has a
// higher one; reading what thousands of older processes carry would take longer
// than most commands do.
type since struct {
	pid   int    // of a process begun then; 0 means unknown
	forks uint64 // since boot, up to a moment before
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

// countAge limits how long an answer about the whole machine can serve as an answer about an earlier moment.
const countAge = time.Second

// count is an answer about the whole machine that only ever grows.
type count struct {
	ask func() uint64

	mu   sync.Mutex
	last uint64
	when time.Time
}

// before returns what was the answer at some time before now, but not long ago.
func (c *count) before() uint64 {
	return c.within(countAge)
}

// now returns what is the answer.
func (c *count) now() uint64 { return c.within(0) }

// within returns what was the answer at some time, no longer ago than age.
func (c *count) within(age time.Duration) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.when.IsZero() || now.Sub(c.when) >= age {
		c.last, c.when = c.ask(), now
	}
	return c.last
}

// forksAge limits the age of a count of forks that shows whether numbers have wrapped around: no machine
// hands out thousands of them in that time.
const forksAge = 10 * time.Millisecond

// forks counts those of the machine. A count serves all commands that are begun within a second: then more
// forks seem to have happened since, and the search looks at all processes a little earlier than necessary.
var forks = count{ask: forksSinceBoot}

// span returns the lowest and the highest number that a process begun between s
// and now can have; ok is false when the numbers can have gone round since.
func (s since) span() (first, last int, ok bool) {
	if s.pid == 0 || s.forks == 0 {
		return 0, 0, false
	}
	last = lastNumber()
	begun, most := forks.within(forksAge), mostNumbers()
	if most == 0 || last < s.pid || begun < s.forks || begun-s.forks >= uint64(most)/2 {
		return 0, 0, false
	}
	return s.pid, last, true
}

// lastNumber returns the process number that was handed out last, in this namespace; 0 means unknown.
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
