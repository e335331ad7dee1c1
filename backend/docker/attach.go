package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
	"golang.org/x/term"

	"github.com/fevalgraph/fevalgraph/backend"
)

// attach runs a command on the caller's streams, and in a terminal if standard
// input is one. The runner waits meanwhile; at the end, all processes are
// killed.
func (b *box) attach(ctx context.Context, user *facts, top string, c backend.Command) (exit backend.Exit, err error) {
	call, cancel := b.d.call(ctx)
	defer cancel()
	defer func() {
		ended := b.end(ctx)
		b.stateUnknown = ended != nil
		err = errors.Join(err, ended)
	}()
	terminal := int(os.Stdin.Fd())
	tty := term.IsTerminal(terminal)
	made, err := b.d.api.ContainerExecCreate(call, b.id, container.ExecOptions{
		User: fmt.Sprintf("%d:%d", user.uid, user.gid), Env: c.Env, WorkingDir: cmp.Or(c.At, path.Join(top, c.Dir)),
		Cmd: c.Argv, Tty: tty, AttachStdin: true, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return exit, fmt.Errorf("attaching to the container: %w", b.d.explain(err))
	}
	conn, err := b.d.api.ContainerExecAttach(call, made.ID, container.ExecAttachOptions{Tty: tty})
	if err != nil {
		return exit, fmt.Errorf("attaching to the container: %w", b.d.explain(err))
	}
	defer conn.Close()
	began := time.Now()
	if tty {
		// The container's terminal now handles keys instead of this one.
		before, err := term.MakeRaw(terminal)
		if err != nil {
			return exit, fmt.Errorf("attaching the terminal: %w", err)
		}
		defer func() { _ = term.Restore(terminal, before) }()
		defer b.followSize(ctx, made.ID, terminal)()
	}
	exit.TimedOut, err = converse(ctx, conn, tty, c.Timeout)
	exit.Seconds = time.Since(began).Seconds()
	if err != nil || exit.TimedOut {
		exit.Code, exit.Signal = -1, syscall.SIGKILL.String()
		return exit, err
	}
	look, cancelLook := b.d.call(ctx)
	defer cancelLook()
	found, err := b.d.api.ContainerExecInspect(look, made.ID)
	if err != nil {
		return exit, fmt.Errorf("querying the command's exit: %w", b.d.explain(err))
	}
	exit.Code = found.ExitCode
	return exit, nil
}

// converse copies input and output until the program's output ends, its limit
// is reached, or ctx is done.
func converse(ctx context.Context, conn types.HijackedResponse, tty bool, limit time.Duration) (timedOut bool, err error) {
	// It ends with the process: a read from a terminal cannot be cancelled.
	go func() {
		_, _ = io.Copy(conn.Conn, os.Stdin)
		_ = conn.CloseWrite()
	}()
	said := make(chan error, 1)
	go func() {
		var err error
		if tty {
			_, err = io.Copy(os.Stdout, conn.Reader)
		} else {
			_, err = stdcopy.StdCopy(os.Stdout, os.Stderr, conn.Reader)
		}
		said <- err
	}()
	var expired <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case err := <-said:
		return false, err
	case <-expired:
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// followSize gives the container's terminal the size of the caller's, now and
// after each change, until the returned function is called.
func (b *box) followSize(ctx context.Context, id string, terminal int) (stop func()) {
	changed := make(chan os.Signal, 1)
	notifyResize(changed)
	done := make(chan struct{})
	go func() {
		b.resize(ctx, id, terminal)
		for {
			select {
			case <-changed:
				b.resize(ctx, id, terminal)
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(changed)
		close(done)
	}
}

// resize is best effort: daemons refuse it while the command is starting.
func (b *box) resize(ctx context.Context, id string, terminal int) {
	const attempts, pause = 10, 50 * time.Millisecond
	for range attempts {
		width, height, err := term.GetSize(terminal)
		if err != nil {
			return
		}
		if b.d.api.ContainerExecResize(ctx, id, container.ResizeOptions{Width: uint(width), Height: uint(height)}) == nil {
			return
		}
		time.Sleep(pause)
	}
}
