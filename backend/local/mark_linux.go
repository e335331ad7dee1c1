package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/internal/retry"
)

const (
	// endTimeout limits the time to end a session's processes. SIGKILL takes microseconds, unless a process is
	// in the kernel: a slow disk can hold it there for many seconds.
	endTimeout = 2 * time.Minute

	endPause    = time.Millisecond // before the second search; doubles
	endMaxPause = 100 * time.Millisecond
)

// put sets the limit of m on a process. This is best effort: a sandbox can forbid it, and the environment
// is marked, too. An existing mark belongs to a session that this process itself runs in, which must still
// find the processes started here, so put keeps it.
func (m mark) put(pid int) {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit); err != nil || isMark(limit.Cur) {
		return
	}
	limit.Cur = m.limit
	_ = unix.Prlimit(pid, unix.RLIMIT_LOCKS, &limit, nil)
}

// endMarked kills every process that carries m, until none is left. All of them began after the moment
// then; the zero value means any time.
func endMarked(m mark, then since) error {
	living := 0
	return retry.Patience{For: endTimeout, Pause: endPause, Longest: endMaxPause}.Do(context.Background(), func(error) bool { return living > 0 }, func() (err error) {
		if living, err = killMarked(m, then); err != nil {
			return fmt.Errorf("ending processes: %w", err)
		}
		if living > 0 {
			return fmt.Errorf("ending processes: %d did not end within %s", living, endTimeout)
		}
		return nil
	})
}

// killMarked examines every process begun since then, kills the living ones that carry m and returns their
// number. A result of 0 means that none is left: children of a process that ended before it was examined
// have higher numbers than all examined processes, and so do their children.
func killMarked(m mark, then since) (int, error) {
	first, last, ok := then.span()
	if !ok {
		return killListed(m, 0, math.MaxInt)
	}
	for n := 0; ; {
		if last-first > maxProbes {
			return killListed(m, then.pid, math.MaxInt)
		}
		for pid := first; pid <= last; pid++ {
			if _, main := mains.Load(pid); !main && exists(pid) && kill(pid, m) {
				n++
			}
		}
		newest := lastNumber()
		switch {
		case n > 0 || newest == last:
			return n, nil
		case newest < last: // the numbers have wrapped around
			return killListed(m, 0, math.MaxInt)
		}
		first, last = last+1, newest
	}
}

// maxProbes limits the numbers that are tried one by one; above it, listing all processes is faster.
const maxProbes = 1 << 10

// killListed does the work of killMarked for every existing process with a number from first to last.
// Processes that begin during the listing can be missed.
func killListed(m mark, first, last int) (int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && first <= pid && pid <= last && kill(pid, m) {
			n++
		}
	}
	return n, nil
}

// exists reports whether the number is that of a process, or of a thread of another process.
func exists(pid int) bool {
	return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) && unix.Tgkill(os.Getpid(), pid, 0) != nil
}

// kill kills the process if it lives and carries m, and reports whether it did.
func kill(pid int, m mark) bool {
	if pid == os.Getpid() || !carries(pid, m) {
		return false
	}
	// The handle is opened before the second check, so another process cannot get the number between check and
	// kill.
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if !carries(pid, m) {
		return false
	}
	_ = p.Kill() // the next search shows whether it worked
	return true
}

// carries reports whether the process lives and carries m.
func carries(pid int, m mark) bool {
	return (marksEnvironment(pid, m) || marksLimit(pid, m)) && isAlive(pid)
}

func marksEnvironment(pid int, m mark) (found bool) {
	want := []byte(cookieVariable + "=" + m.cookie)
	askProcess(pid, "environ", func(env []byte) {
		for variable := range bytes.SplitSeq(env, []byte{0}) {
			found = found || bytes.Equal(variable, want)
		}
	})
	return found
}

func marksLimit(pid int, m mark) (found bool) {
	askProcess(pid, "limits", func(limits []byte) {
		_, rest, _ := bytes.Cut(limits, []byte("\nMax file locks"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		fields := bytes.Fields(line)
		found = len(fields) > 0 && string(fields[0]) == strconv.FormatUint(m.limit, 10)
	})
	return found
}

// isAlive reports whether the process is more than a zombie. The first thread
// can be a zombie while others run on.
func isAlive(pid int) (alive bool) {
	askProcess(pid, "stat", func(stat []byte) {
		// "pid (name) state ppid ... num_threads": the name can contain any characters.
		const threads = 17 // index, counted from state
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) <= threads {
			return
		}
		if state := fields[0][0]; state != 'Z' && state != 'X' {
			alive = true
			return
		}
		n, _ := strconv.Atoi(string(fields[threads]))
		alive = n > 1
	})
	return alive
}
