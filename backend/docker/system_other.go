//go:build !unix

package docker

import "os"

// notifyResize does nothing: here, no signal tells of another size.
func notifyResize(chan<- os.Signal) {}
