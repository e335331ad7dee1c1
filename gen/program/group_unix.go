//go:build unix

package program

import (
	"os/exec"
	"syscall"
)

// asGroup has the program and what it starts be ended together.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
