package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
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

// endMarked kills every process that carries m, until none is left. None was
// begun before then; the zero value is any time.
func endMarked(m mark, then since) error {
	deadline := time.Now().Add(endTimeout)
	for pause := endPause; ; pause = min(2*pause, endMaxPause) {
		left, err := killMarked(m, then)
		if err != nil {
			return fmt.Errorf("ending processes: %w", err)
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("ending processes: %d did not end within %s", left, endTimeout)
		}
		time.Sleep(pause)
	}
}

// killMarked looks at every process begun since then once, kills the living ones
// that carry m and returns how many those were.
func killMarked(m mark, then since) (int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	first, last := then.numbers() // asked after the list was made: nothing in it is younger
	self := os.Getpid()
	n := 0
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid < first || pid > last || pid == self || !carries(pid, m) {
			continue
		}
		// The handle is taken before the second look, so the number cannot
		// pass to a stranger between look and kill.
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if carries(pid, m) {
			n++
			_ = p.Kill() // whether it worked is what the next look shows
		}
		_ = p.Release()
	}
	return n, nil
}

// carries reports whether the process lives and carries m.
func carries(pid int, m mark) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	return (marksEnvironment(dir, m) || marksLimit(dir, m)) && alive(dir)
}

func marksEnvironment(dir string, m mark) bool {
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return false
	}
	want := []byte(cookieVariable + "=" + m.cookie)
	for variable := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(variable, want) {
			return true
		}
	}
	return false
}

func marksLimit(dir string, m mark) bool {
	limits, err := os.ReadFile(filepath.Join(dir, "limits"))
	if err != nil {
		return false
	}
	_, rest, found := bytes.Cut(limits, []byte("\nMax file locks"))
	fields := bytes.Fields(rest)
	return found && len(fields) > 0 && string(fields[0]) == strconv.FormatUint(m.limit, 10)
}

// alive reports whether the process is more than a zombie. The first thread
// may be a zombie while others run on.
func alive(dir string) bool {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return false
	}
	// "pid (name) state ppid ... num_threads": the name may hold anything.
	const threads = 17 // counted from state
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= threads {
		return false
	}
	if state := fields[0][0]; state != 'Z' && state != 'X' {
		return true
	}
	n, _ := strconv.Atoi(string(fields[threads]))
	return n > 1
}
