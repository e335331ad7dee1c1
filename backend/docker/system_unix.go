//go:build unix

package docker

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize makes the system report a new size of the caller's terminal.
func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }
