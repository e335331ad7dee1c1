package isolation

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/internal/seccomp"
)

func init() {
	if len(os.Args) > 0 && os.Args[0] == name {
		syscall.Exit(takeOver()) // return without waiting for other goroutines
	}
}

// takeOver runs the process that Command started. Its environment, standard files and further arguments
// are those of the program.
func takeOver() int {
	runtime.LockOSThread() // capabilities belong to threads
	told, status := os.NewFile(orderFile, "order"), os.NewFile(statusFile, "status")
	fail := func(f failure, err error) int {
		errors.As(err, &f.Errno)
		f.Text = err.Error()
		if f.Errno != 0 {
			f.Text = strings.TrimSuffix(strings.TrimSuffix(f.Text, f.Errno.Error()), ": ")
		}
		content, _ := json.Marshal(f)
		_, _ = status.Write(append([]byte{saidFailed}, content...))
		return 1
	}
	// The program must not inherit files that this process inherited by accident.
	if err := unix.CloseRange(orderFile, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fail(failure{}, fmt.Errorf("closing files: %w", err))
	}
	var o order
	decoder := json.NewDecoder(told)
	decoder.DisallowUnknownFields() // a program of another build could isolate less than requested
	if err := decoder.Decode(&o); err != nil {
		return fail(failure{}, fmt.Errorf("reading the task: %w", err))
	}
	if err := o.isolate(); err != nil {
		return fail(failure{}, err)
	}
	if o.Path == "" {
		_, _ = status.Write(append(crowded(), ended(0)...))
		return 0
	}
	if err := os.Chdir(o.Dir); err != nil {
		return fail(failure{Program: true}, err)
	}
	if o.Level == Partial {
		return fail(failure{Program: true}, syscall.Exec(o.Path, os.Args[1:], os.Environ()))
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, handledSignals...)
	if err := catchReserved(); err != nil {
		return fail(failure{}, err)
	}
	attr := &syscall.SysProcAttr{Setsid: true}
	if o.Foreground {
		attr = &syscall.SysProcAttr{Setpgid: true, Foreground: true}
	}
	var pid int
	err := WhenNotBusy(func() (err error) {
		pid, err = syscall.ForkExec(o.Path, os.Args[1:], &syscall.ProcAttr{
			Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: attr,
		})
		return err
	})
	if err != nil {
		return fail(failure{Program: true}, err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, told)
		syscall.Exit(1) // the caller has ended, so end everything here
	}()
	go forward(signals, pid)
	return attend(pid, status)
}

// isolate restricts this process, or this thread of it and what it starts.
func (o *order) isolate() error {
	denied := seccomp.Reach | seccomp.Namespaces
	if o.Level == Partial {
		private, err := o.View.ownMemory()
		if err != nil {
			return err
		}
		if !private {
			denied |= seccomp.IPC
		}
		if err := o.View.restrict(o.Foreground, private); err != nil {
			return err
		}
	} else {
		if o.View.PrivateNetwork {
			if err := LoopbackUp(); err != nil {
				return fmt.Errorf("bringing up the loopback: %w", err)
			}
		}
		if err := o.View.enter(o.Foreground); err != nil {
			return err
		}
		// The program has the same user, and must not trace or forge this process.
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return fmt.Errorf("disabling tracing: %w", err)
		}
	}
	// Parts of the kernel look up keys implicitly. This fails if a user has the maximum number of keyrings, or
	// if the kernel has none; then the program cannot request keys, either.
	_, _ = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
	if err := Renounce(); err != nil {
		return err
	}
	if o.Level == Full {
		if err := scope(); err != nil {
			return err
		}
	}
	if err := denied.Install(); err != nil {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	return nil
}

// Renounce permanently drops all capabilities of this thread and what it starts.
func Renounce() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	// The first capability that the kernel cannot look up is the end of the list.
	for capability := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, capability, 0, 0, 0) == nil; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if err != nil && (os.Geteuid() == 0 || !errors.Is(err, unix.EPERM)) { // otherwise, programs of this user get none anyway
			return fmt.Errorf("dropping capability %d: %w", capability, err)
		}
	}
	var none [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}

// handledSignals lists the signals that would otherwise end a Go program, so that no signal of the program ends
// this process, and the signals that are passed on. Handling all 64 would take longer than mounting what
// the program sees.
var handledSignals = []os.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGTERM,
	unix.SIGQUIT, unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGSTKFLT, unix.SIGSYS,
	unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV,
	unix.SIGCONT,
}

// forward passes on the signals with which the caller ends a program. The program itself could send them,
// too.
func forward(signals <-chan os.Signal, pid int) {
	for s := range signals {
		if s == unix.SIGTERM || s == unix.SIGCONT {
			_ = unix.Kill(-pid, s.(unix.Signal))
		}
	}
}

// attend reaps all processes of the namespace, reports how the program ends and what was crowded then, and returns.
func attend(pid int, status io.Writer) int {
	for {
		var ws syscall.WaitStatus
		who, err := syscall.Wait4(-1, &ws, unix.WUNTRACED|unix.WCONTINUED, nil)
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && who != pid:
		case err != nil:
			return 1
		case ws.Stopped():
			_, _ = status.Write([]byte{saidStopped})
		case ws.Continued():
			_, _ = status.Write([]byte{saidContinued})
		default:
			endOthers()
			_, _ = status.Write(append(crowded(), ended(ws)...))
			return 0
		}
	}
}

// ended encodes the status of a program that ended.
func ended(ws syscall.WaitStatus) []byte {
	return binary.NativeEndian.AppendUint32([]byte{saidEnded}, uint32(ws))
}
