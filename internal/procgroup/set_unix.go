//go:build unix

// Package procgroup ends commands outside of sessions, such as uv, with all their descendants.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Set configures a command that has not started: the end of its context ends it and its descendants, and it
// does not get the caller's terminal. On systems other than Unix, only the command itself ends.
func Set(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
