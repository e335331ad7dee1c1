//go:build unix

// Package procgroup has commands that are no session's, such as uv, be ended with all that they start.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Set has the command, which has not started, and what it starts be ended together when its context
// ends, and takes the caller's terminal from them. Elsewhere than on Unix only the command itself is.
func Set(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
