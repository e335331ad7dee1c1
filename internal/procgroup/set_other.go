//go:build !unix

package procgroup

import "os/exec"

// Set does nothing on this system.
func Set(*exec.Cmd) {}
