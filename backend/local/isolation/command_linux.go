package isolation

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// order is the message to the process that takes over.
type order struct {
	Level Level
	View  View
	Path  string // of the program; "" creates the view without starting a program
	Dir   string
	// Foreground gives the program the caller's terminal and makes its process group the
	// foreground group. Otherwise the program gets a session without a terminal.
	Foreground bool
}

// name replaces the file name of the process that takes over.
const name = "fevalgraph-isolated"

// File descriptors of that process, besides the standard ones.
const (
	orderFile  = 3 // it reads its order here; the end of file means that the caller has ended
	statusFile = 4 // it reports here how the program starts and ends
)

// itself is the file of the running program, even if the file was replaced or removed since.
const itself = "/proc/self/exe"

// Program is an open file of a program that imports this package and takes over instead of this program: a
// small program starts faster. A nil Program is this program.
type Program struct{ file *os.File }

// OpenProgram opens the file of a program of the same build as this one. It may be replaced or removed later.
func OpenProgram(path string) (*Program, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// The started process replaces its first files before it looks up the program by descriptor.
	const first = statusFile + 1
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, first)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return &Program{os.NewFile(uintptr(fd), path)}, nil
}

func (p *Program) path() string {
	if p == nil {
		return itself
	}
	return fmt.Sprintf("/proc/self/fd/%d", p.file.Fd())
}

// Process is the caller's handle of an isolated program. It must be used by one goroutine at a time,
// except for Stopped.
type Process struct {
	level    Level
	order    []byte
	lifeline *os.File   // stays open as long as the program can run
	theirs   []*os.File // of the process that takes over
	status   *status
}

// Command changes cmd, which must have a Path, to start the program isolated; by takes over first. After a
// start, even a failed one, the caller must call Begin and then End.
func Command(cmd *exec.Cmd, by *Program, level Level, view View) (*Process, error) {
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	content, err := json.Marshal(order{Level: level, View: view, Path: cmd.Path, Dir: cmd.Dir, Foreground: attr.Foreground})
	if err != nil {
		return nil, err
	}
	told, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	hear, say, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, told.Close(), tell.Close())
	}
	if level == Full {
		// The program gets its session from this process. Another session would be another group of the scheduler,
		// which must wait for its turn on a busy machine.
		attr.Setsid, attr.Setpgid = false, true
		separate(&attr, view.PrivateNetwork)
	}
	p := &Process{
		level: level, order: content, lifeline: tell, status: &status{file: hear}, theirs: []*os.File{told, say},
	}
	cmd.Args = append([]string{name}, cmd.Args...)
	cmd.Path, cmd.Dir, cmd.SysProcAttr, cmd.ExtraFiles = by.path(), "/", &attr, p.theirs
	return p, nil
}

// separate configures separate namespaces for a process. Users other than root need a user namespace for
// that. No other user exists there.
func separate(attr *syscall.SysProcAttr, network bool) {
	attr.Cloneflags |= unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	if network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Geteuid() == 0 {
		return
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN}
}

// Begin starts the program, if its process was started.
func (p *Process) Begin(started bool) error {
	for _, f := range p.theirs {
		f.Close()
	}
	if !started {
		return nil
	}
	if _, err := p.lifeline.Write(p.order); err != nil && !errors.Is(err, unix.EPIPE) { // EPIPE: it ended, which has a status
		return fmt.Errorf("sending its task to an isolated program: %w", err)
	}
	return nil
}

// Attends reports whether the started process is not the program itself, but waits for it. It returns
// false for a nil p.
func (p *Process) Attends() bool { return p != nil && p.level == Full }

// Stopped reports whether a signal has stopped the program. It must not be called after End.
func (p *Process) Stopped() bool { return p.status.stopped() }

// Crowded returns an error if, when the program had ended, others had nearly reached a limit that the kernel has for
// all programs of a user together. It must not be called before End.
func (p *Process) Crowded() error { return p.status.crowded }

// End returns how the program ended. It must be called once, when the process has ended or was never
// started. ok is false if no report arrived: at level Partial, the process that took over becomes the
// program itself; at level Full, it was killed. An error means that the program was not started.
func (p *Process) End() (ended syscall.WaitStatus, ok bool, err error) {
	p.lifeline.Close()
	defer p.status.file.Close()
	return p.status.ending()
}
