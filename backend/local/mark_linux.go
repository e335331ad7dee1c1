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
	// endTimeout bounds the ending of a session's processes. SIGKILL takes
	// microseconds; only a process stuck in the kernel needs more.
	endTimeout = 10 * time.Second

	endPause    = time.Millisecond // before the second look; doubles
	endMaxPause = 100 * time.Millisecond
)

// put sets the limit of m on a process. That is best effort: a sandbox may
// forbid it, and the environment is marked too. A mark that is there already
// belongs to a session that this process runs in; it must still find what
// this one leaves.
func (m mark) put(pid int) {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit); err != nil || isMark(limit.Cur) {
		return
	}
	limit.Cur = m.limit
	_ = unix.Prlimit(pid, unix.RLIMIT_LOCKS, &limit, nil)
}

// endMarked kills every process that carries m, until none is left. No such process was begun before then;
// the zero value means any time.
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

// killMarked looks at every process begun since then, kills the living ones that carry m and returns their
// number. After 0, none is left: a process begun by a process that ended before it was looked at has a
// higher number than all that were looked at, and so has every process that it begins.
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
		case newest < last: // the numbers have gone round
			return killListed(m, 0, math.MaxInt)
		}
		first, last = last+1, newest
	}
}

// maxProbes bounds the numbers that are tried one by one; beyond it, listing all processes takes less time.
const maxProbes = 1 << 10

// killListed does the work of killMarked for every process that there is with a
// number from first to last. What is begun while the list is made can be missing
// from it.
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

// exists reports whether a process has the number, or a thread of another
// process than this one.
func exists(pid int) bool {
	return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) && unix.Tgkill(os.Getpid(), pid, 0) != nil
}

// kill kills the process if it lives and carries m, and reports whether it did.
func kill(pid int, m mark) bool {
	if pid == os.Getpid() || !carries(pid, m) {
		return false
	}
	// The handle is taken before the second look, so the number cannot pass to
	// a stranger between look and kill.
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if !carries(pid, m) {
		return false
	}
	_ = p.Kill() // the next look shows whether it worked
	return true
}

// carries reports whether the process lives and carries m.
func carries(pid int, m mark) bool {
	return (marksEnvironment(pid, m) || marksLimit(pid, m)) && alive(pid)
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

// alive reports whether the process is more than a zombie. The first thread
// can be a zombie while others run on.
func alive(pid int) (alive bool) {
	askProcess(pid, "stat", func(stat []byte) {
		// "pid (name) state ppid ... num_threads": the name can hold anything.
		const threads = 17 // counted from state
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
