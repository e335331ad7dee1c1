package isolation

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// caughtAddress is the address of a signal handler that does nothing. Go's own handler treats those for
// which it was not installed as fatal, and a signal ignored here would be ignored in the program, too.
var caughtAddress uintptr

// catchReserved catches the signals that Go leaves to C libraries, for which it has no handler. The kernel
// does not deliver signals to the first process of a namespace if it neither catches them nor blocks them
// in its first thread. That thread blocks all signals while it starts a program; a signal that another
// thread does not block could then end this process.
func catchReserved() error {
	const setSize = 8 // bytes of the kernel's set of signals
	// The kernel's sigaction begins with the handler. The rest, such as the return address and the stack, is
	// equal to that of signals that Go handles.
	var action [8]uintptr
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGIO), 0, uintptr(unsafe.Pointer(&action)), setSize, 0, 0); errno != 0 {
		return fmt.Errorf("reading the handlers of signals: %w", errno)
	}
	action[0] = caughtAddress
	for _, reserved := range []uintptr{32, 34} { // Go handles signal 33
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, reserved, uintptr(unsafe.Pointer(&action)), 0, setSize, 0, 0); errno != 0 {
			return fmt.Errorf("catching signal %d: %w", reserved, errno)
		}
	}
	return nil
}
