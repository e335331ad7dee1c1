//go:build unix

package docker

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize has the system tell of another size of the caller's terminal.
func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }
