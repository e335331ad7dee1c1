package local

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onOwnThread calls fn on a separate thread and returns its error. The thread ends with its goroutine, which
// never unlocks it.
func onOwnThread(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			done <- fn()
			return
		}
		// The main thread never ends, and /proc shows its namespaces as the process's. While it is locked here, fn
		// runs on another one.
		done <- onOwnThread(fn)
		runtime.UnlockOSThread()
	}()
	return <-done
}
