//go:build !unix

package docker

import (
	"io/fs"
	"os"
)

// notifyResize does nothing: here, no signal tells of another size.
func notifyResize(chan<- os.Signal) {}

// ownedByRoot cannot tell.
func ownedByRoot(fs.FileInfo) (root, known bool) { return false, false }
