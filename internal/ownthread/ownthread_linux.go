// Package ownthread runs functions on threads that nothing else runs on, before
// or after, so that they may change what belongs to a thread: its namespaces. What
// they start as processes inherits those.
package ownthread

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Do calls fn on a thread of its own and returns its error: a goroutine that
// ends without unlocking its thread takes it along.
func Do(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			done <- fn()
			return
		}
		// The main thread never ends, and /proc shows its namespaces as the
		// process's. While it is held here, fn gets another one.
		done <- Do(fn)
		runtime.UnlockOSThread()
	}()
	return <-done
}
