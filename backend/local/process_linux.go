package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// process is the main process of a running command.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended and is not yet reaped
}

// watch takes charge of a started command and marks it. Until reap the
// process keeps its number, so that signals cannot reach a stranger.
func watch(cmd *exec.Cmd, m mark) *process {
	p := &process{cmd: cmd, ended: make(chan struct{})}
	// Best effort: a sandbox may forbid it, and the environment is marked too.
	// A limit that is there already belongs to a session that we run in
	// ourselves; it must still find what we leave.
	var limit unix.Rlimit
	err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_LOCKS, nil, &limit)
	if err == nil && limit.Cur == unix.RLIM_INFINITY {
		limit.Cur = m.limit
		_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_LOCKS, &limit, nil)
	}
	go func() {
		defer close(p.ended)
		for {
			err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return p
}

// signalGroup sends sig to the process group of the command. Not to be called
// after reap.
func (p *process) signalGroup(sig unix.Signal) {
	_ = unix.Kill(-p.cmd.Process.Pid, sig) // ESRCH: nothing is left to signal
}

// reap kills what is left of the process group and collects the exit status.
// To be called once, after ended.
func (p *process) reap() error {
	p.signalGroup(unix.SIGKILL)
	return p.cmd.Wait()
}

// endMarked kills every process that carries m, until none is left.
func endMarked(m mark) error {
	deadline := time.Now().Add(endTimeout)
	for pause := endPause; ; pause = min(2*pause, endMaxPause) {
		left, err := killMarked(m)
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

// killMarked looks at every process once, kills the living ones that carry m
// and returns their number.
func killMarked(m mark) (int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	self := os.Getpid()
	n := 0
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self || !carries(pid, m) {
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

// oomKills returns how often the kernel, out of memory, killed something
// since boot; 0 when it does not tell.
func oomKills() uint64 {
	vmstat, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(vmstat, []byte("\noom_kill "))
	digits, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseUint(string(digits), 10, 64)
	return n
}
