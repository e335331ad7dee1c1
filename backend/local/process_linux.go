package local

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// process is the main process of a running command.
type process struct {
	cmd   *exec.Cmd
	ended *os.File // becomes readable when the process has ended; valid until it is reaped
	// isolated is nil for a process that sees all of the machine.
	isolated *isolation.Process
}

// start starts cmd and sets the mark m before its first instruction, so that all its children have the
// mark, too: it starts as a traced process, which stops at exec, is marked and then continues.
func start(cmd exec.Cmd, m mark) (*process, error) {
	traced := cmd
	attr := *cmd.SysProcAttr
	traced.SysProcAttr = &attr
	pidfd := -1
	attr.PidFD = &pidfd
	// For a traced program, the set-user-id bit has no effect. In separate namespaces, no process can escape,
	// so no mark is needed.
	if info, err := os.Stat(cmd.Path); err == nil && attr.Cloneflags == 0 && info.Mode()&(os.ModeSetuid|os.ModeSetgid) == 0 {
		attr.Ptrace = true
	}
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	started := &traced
	if err := started.Start(); err != nil {
		if !attr.Ptrace || errors.Is(err, unix.ETXTBSY) || exhaustion.Is(err) {
			return nil, err
		}
		// A sandbox or a debugger can forbid tracing.
		cmd.SysProcAttr, attr.Ptrace = &attr, false
		started = &cmd
		if err := started.Start(); err != nil {
			return nil, err
		}
	}
	pid := started.Process.Pid
	p := &process{cmd: started}
	if attr.Ptrace {
		await(pid, unix.WSTOPPED|unix.WEXITED)
	}
	m.put(pid)
	backend.SetLimits(pid)
	var err error
	if attr.Ptrace {
		if err = unix.PtraceDetach(pid); errors.Is(err, unix.ESRCH) {
			err = nil
		}
		err = os.NewSyscallError("ptrace", err)
	}
	switch {
	case pidfd >= 0:
		p.ended = os.NewFile(uintptr(pidfd), "pidfd")
	case err == nil:
		p.ended, err = endOf(func() { await(pid, unix.WEXITED) })
	}
	if err != nil {
		_ = p.reap()
		return nil, err
	}
	return p, nil
}

// await waits for a change of a child's state without consuming it.
func await(pid, states int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, states|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// signalGroup sends sig to the process group of the command. It must not be called after reap, when
// another process can have the number.
func (p *process) signalGroup(sig unix.Signal) {
	_ = unix.Kill(-p.cmd.Process.Pid, sig) // ESRCH: no process is left
}

// reap kills the rest of the process group and collects the exit status. It must be called once.
func (p *process) reap() error {
	p.signalGroup(unix.SIGKILL)
	p.ended.Close()
	return p.cmd.Wait()
}

// isStopped reports whether a signal has stopped the main process. It must not be called after reap.
func (p *process) isStopped() (stopped bool) {
	if p.isolated.Attends() {
		return p.isolated.Stopped()
	}
	askProcess(p.cmd.Process.Pid, "stat", func(stat []byte) {
		// The name before the state can contain any characters.
		_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
		stopped = len(state) > 0 && state[0] == 'T'
	})
	return stopped
}
