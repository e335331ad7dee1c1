package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
		living, err = killMarked(m, then.first())
		if err == nil && living == 0 && then.first() == 0 {
			// Where numbers wrap around, a process can have children with lower ones than its own.
			living, err = killMarked(m, 0)
		}
		if err != nil {
			return fmt.Errorf("ending processes: %w", err)
		}
		if living > 0 {
			return fmt.Errorf("ending processes: %d did not end within %s", living, endTimeout)
		}
		return nil
	})
}

// killMarked examines every process with a number from first on, kills the living ones that carry m and returns their
// count. A result of 0 means that none is left, unless numbers wrap around meanwhile: /proc lists processes in the order
// of their numbers, so children of a process that ended before it was examined come later, and so do their children.
func killMarked(m mark, first int) (n int, err error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer proc.Close()
	for {
		names, err := proc.Readdirnames(1)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if pid, err := strconv.Atoi(names[0]); err == nil && pid >= first && kill(pid, m) {
			n++
		}
	}
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
