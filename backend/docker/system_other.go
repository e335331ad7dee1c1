//go:build !unix

package docker

import "os"

// notifyResize does nothing: this system has no signal for a new size.
func notifyResize(chan<- os.Signal) {}
