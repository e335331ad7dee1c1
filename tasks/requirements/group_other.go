//go:build !unix

package requirements

import "os/exec"

// asGroup does nothing: only the command itself is ended here.
func asGroup(*exec.Cmd) {}
