package backendtest

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
)

// Hold takes nearly all that the kernel gives to the programs of a user together, as a command: "signals", "descriptors",
// "pipes", or "nothing", until this process ends.
func Hold(what string) error {
	backend.SetLimits(0)
	switch what {
	case "signals":
		return holdSignals()
	case "descriptors":
		return holdDescriptors()
	case "pipes":
		return holdPipes()
	case "nothing":
		return nil
	}
	return fmt.Errorf("unknown resource %q", what)
}

func holdSignals() error {
	runtime.LockOSThread()
	const signal, queued = 64, -1 // SI_QUEUE
	blocked := uint64(1) << (signal - 1)
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, uintptr(unsafe.Pointer(&blocked)), 0, 8, 0, 0)
	info := [32]int32{2: queued}
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(unix.Getpid()), uintptr(unix.Gettid()), signal, uintptr(unsafe.Pointer(&info)), 0, 0)
		if errno == unix.EAGAIN {
			return nil
		}
		if errno != 0 {
			return errno
		}
	}
}

func holdDescriptors() error {
	for {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		// The standard input, many times: a socket whose queue holds itself would live on for a while.
		err = unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(make([]int, 240)...), nil, 0)
		if errors.Is(err, unix.ETOOMANYREFS) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func holdPipes() error {
	for {
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		_, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_SETPIPE_SZ, 1<<20)
		if errors.Is(err, unix.EPERM) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
