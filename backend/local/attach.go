//go:build unix

package local

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/fevalgraph/fevalgraph/backend"
)

// attach runs cmd on the caller's terminal. If standard input is a terminal,
// the command's process group becomes its foreground group, so that Ctrl-C and
// job control reach the command and not the caller. Only then does the command
// stay in the caller's terminal session.
func (s *session) attach(ctx context.Context, cmd *exec.Cmd, c backend.Command) (backend.Exit, error) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	terminal := int(os.Stdin.Fd())
	if !term.IsTerminal(terminal) {
		return s.run(ctx, cmd, c, nil)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: terminal}
	defer func() {
		// A background process must ignore SIGTTOU to take the terminal back. Set only
		// now, since the command would have inherited it.
		signal.Ignore(unix.SIGTTOU)
		defer signal.Reset(unix.SIGTTOU)
		_ = unix.IoctlSetPointerInt(terminal, unix.TIOCSPGRP, unix.Getpgrp())
	}()
	return s.run(ctx, cmd, c, nil)
}
