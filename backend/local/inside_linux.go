package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/cache"
)

// inside is the state of a process that is the first process of a container. All other processes there
// belong to commands, so all of them are ended after each command.
//
// Commands can be hostile: they must neither end this process nor write output in its name. As the first
// process of its namespace it gets only signals that it handles, and it handles none. It runs as another
// user than commands, so that they cannot change its limits, trace it or open its files, and they inherit
// none of its files.
type inside struct {
	backend.Container
	user *containerUser
	kill uint64 // OOM kills before the command
	reap sync.WaitGroup
}

// runnerUser is the user and group id of the first process. No image uses it.
const runnerUser = 61186

// NewInside returns the backend of the first process of a container, and changes the user of this process.
// Inputs of sessions come from store.
func NewInside(store cache.Store, c backend.Container) (*Backend, error) {
	user, err := findUser(c.User)
	if err != nil {
		return nil, &backend.SettingError{Setting: "user", Err: fmt.Errorf("not found in the image: %w", err),
			Hint: "write a number, such as 1000:1000, or a name that exists in the image"}
	}
	// The runtime changes the user of each thread by a queued signal. Commands of the same user elsewhere, at their own limit,
	// can hold all signals within that limit, so it applies afterwards.
	if err := protect(); err != nil {
		return nil, fmt.Errorf("protecting the first process: %w", err)
	}
	if err := setOwnLimits(c.Limits); err != nil {
		return nil, err
	}
	b := New(store, Options{Confinement: Confinement{Isolation: string(isolation.None)}, Network: backend.PrivateNetwork, Lifecycle: Lifecycle{Grace: c.Grace}})
	b.inside = &inside{Container: c, user: user}
	return b, nil
}

// protect changes the user of this process, keeps its capabilities, and makes it ignore signals.
func protect() error {
	unix.Umask(commandUmask)
	if os.Getpid() != 1 {
		return errors.New("not the first process of a container")
	}
	all := func(trap, a, b, c uintptr) error {
		if _, _, errno := syscall.AllThreadsSyscall(trap, a, b, c); errno != 0 {
			return errno
		}
		return nil
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return err
	}
	for i := range have {
		have[i].Effective, have[i].Inheritable = have[i].Permitted, 0
	}
	for _, step := range []func() error{
		func() error { return all(unix.SYS_PRCTL, unix.PR_SET_KEEPCAPS, 1, 0) },
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setresgid(runnerUser, runnerUser, runnerUser) },
		func() error { return syscall.Setresuid(runnerUser, runnerUser, runnerUser) },
		func() error {
			return all(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&have[0])), 0)
		},
		func() error { return all(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	beginThreads()
	// The runtime handles many signals, and some, such as SIGSEGV, would end this process.
	var byDefault [4]uintptr
	for signal := uintptr(1); signal <= lastSignal; signal++ {
		if signal != uintptr(unix.SIGKILL) && signal != uintptr(unix.SIGSTOP) {
			if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0); errno != 0 {
				return errno
			}
		}
	}
	return nil
}

const lastSignal = 64

// beginThreads makes the runtime create all threads that this process can need. After commands have
// reached the container's limit on processes, creating a thread would fail and end this process.
func beginThreads() {
	const threads = 12
	var all sync.WaitGroup
	begun, enough := make(chan struct{}), make(chan struct{})
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			begun <- struct{}{}
			<-enough
		})
	}
	for range threads {
		<-begun
	}
	close(enough)
	all.Wait()
}

// openInside returns the session of the container.
func (b *Backend) openInside(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	c := b.inside.Container
	layout := workspace.Layout{Work: c.Work, Home: c.Home, Temp: c.Temp, Owner: workspace.Owner{UID: int(b.inside.user.uid), GID: int(b.inside.user.gid)}}
	if c.Copied {
		layout.Places, layout.ReadOnly = spec.Places, spec.ReadOnly
	}
	work, err := workspace.Adopt(layout, b.store)
	if err != nil {
		return nil, fmt.Errorf("opening session: %w", err)
	}
	s := &session{b: b, dir: c.Work, work: work, level: isolation.None, places: spec.Places}
	return s, s.Place(ctx, spec.Inputs...)
}

// begin prepares for a command.
func (in *inside) begin(s *session, offline bool) error {
	if in == nil {
		return nil
	}
	for _, p := range s.places {
		if _, _, err := s.work.Real(p.Path); in.Copied && err != nil {
			return fmt.Errorf("showing %s at %s: %w", p.Path, p.At, err)
		}
	}
	if offline {
		if err := networkless(); err != nil {
			return err
		}
	}
	in.kill = containerKills()
	return nil
}

// start starts a command with its user and capabilities.
func (in *inside) start(cmd *exec.Cmd) (p *process, err error) {
	started, pidfd := *cmd, -1
	attr := *cmd.SysProcAttr
	attr.PidFD, attr.Credential = &pidfd, &syscall.Credential{Uid: in.user.uid, Gid: in.user.gid, Groups: in.user.groups}
	started.SysProcAttr = &attr
	err = onOwnThread(func() error {
		if !in.Capabilities {
			for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) == nil; c++ {
			}
		}
		// When memory runs out, commands end before this process does.
		defer setOOMScore("0")
		setOOMScore("500")
		return isolation.WhenNotBusy(func() error {
			once := started
			err := once.Start()
			started = once
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return &process{cmd: &started, ended: os.NewFile(uintptr(pidfd), "pidfd")}, nil
}

// setOOMScore sets how likely the kernel is to kill this process, and processes that it starts, when memory
// runs out.
func setOOMScore(score string) { _ = os.WriteFile("/proc/self/oom_score_adj", []byte(score), 0) }

// reapOrphans reaps orphans while the command runs, since zombies count against the limit on processes.
func (in *inside) reapOrphans(p *process) {
	if in == nil {
		return
	}
	in.reap.Go(func() {
		for {
			var info [128]byte // a siginfo_t
			err := unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, nil)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			pid := int(*(*int32)(unsafe.Pointer(&info[16])))
			if err != nil || pid == p.cmd.Process.Pid {
				return
			}
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG|unix.WALL, nil)
		}
	})
}

// userLimits returns an error as the function does, and Probe of package isolation, for the user of commands.
func (in *inside) userLimits() error {
	return onOwnThread(func() error {
		user := uintptr(in.user.uid)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, user, user, user); errno != 0 { // of this thread alone
			return fmt.Errorf("becoming the user of commands: %w", errno)
		}
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil { // which another user can have changed
			return err
		}
		if err := isolation.Renounce(); err != nil {
			return err
		}
		return cmp.Or(userLimits(), isolation.Probe())
	})
}

// endAll ends every other process of the container. No process escapes: the signal reaches all processes
// at once, including those being forked.
func (in *inside) endAll() {
	for {
		_ = unix.Kill(-1, unix.SIGKILL)
		if _, err := unix.Wait4(-1, nil, unix.WALL, nil); errors.Is(err, unix.ECHILD) {
			break
		}
	}
	in.reap.Wait()
}

// outOfMemory reports whether the kernel killed a process of the container for lack of memory since the
// command began.
func (in *inside) outOfMemory() bool { return in != nil && containerKills() != in.kill }

// containerKills returns the number of processes that the kernel killed in the container's control group,
// of version 2 or 1.
func containerKills() (n uint64) {
	for _, file := range []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"} {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(content) {
			if value, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
				n, _ = strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
				return n
			}
		}
	}
	return 0
}

// errNetwork means that a command would have had a network.
var errNetwork = errors.New("the container has a network, but must have none")

// networkless returns an error if there is a route, or an interface other than the loopback has an
// address.
func networkless() error {
	routes, err := os.ReadFile("/proc/net/route")
	if err == nil && bytes.Count(routes, []byte("\n")) > 1 {
		return errNetwork
	}
	addresses, err := os.ReadFile("/proc/net/if_inet6")
	if err != nil {
		return nil // the kernel has no IPv6
	}
	for line := range bytes.Lines(addresses) {
		if fields := bytes.Fields(line); len(fields) == 6 && string(fields[5]) != "lo" {
			return errNetwork
		}
	}
	return nil
}
