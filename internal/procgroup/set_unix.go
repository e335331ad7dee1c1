//go:build unix

// Package procgroup has commands that are no session's, such as uv, be ended with all that they start.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Set makes the end of its context end the command, which has not started, and its descendants, and takes
// the caller's terminal from them. On other systems than Unix it ends only the command itself.
func Set(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
