package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
	"golang.org/x/term"

	"github.com/fevalgraph/fevalgraph/backend"
)

// attach runs a script on the caller's streams, and in a terminal when standard
// input is one. The container's own program waits meanwhile for a script that
// never comes; at the end everything is killed.
func (b *box) attach(ctx context.Context, script string, limit time.Duration) (exit backend.Exit, err error) {
	if b.lost {
		return exit, errors.New("an earlier command lost the container")
	}
	b.lost = true // until it is known to have ended
	call, cancel := b.d.call(ctx)
	defer cancel()
	if err := b.d.api.ContainerStart(call, b.id, container.StartOptions{}); err != nil {
		b.lost = false
		return exit, b.d.startError(err)
	}
	defer func() { err = errors.Join(err, b.stopAttached(ctx)) }()
	terminal := int(os.Stdin.Fd())
	tty := term.IsTerminal(terminal)
	made, err := b.d.api.ContainerExecCreate(call, b.id, container.ExecOptions{
		Cmd: []string{"/bin/sh", "-c", script}, Tty: tty, AttachStdin: true, AttachStdout: true, AttachStderr: true,
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
		// The container's terminal does what this one did for keys.
		before, err := term.MakeRaw(terminal)
		if err != nil {
			return exit, fmt.Errorf("attaching the terminal: %w", err)
		}
		defer func() { _ = term.Restore(terminal, before) }()
		defer b.followSize(ctx, made.ID, terminal)()
	}
	exit.TimedOut, err = converse(ctx, conn, tty, limit)
	exit.Seconds = time.Since(began).Seconds()
	if err != nil || exit.TimedOut {
		exit.Code, exit.Signal = -1, syscall.SIGKILL.String()
		return exit, err
	}
	look, cancelLook := b.d.call(ctx)
	defer cancelLook()
	found, err := b.d.api.ContainerExecInspect(look, made.ID)
	if err != nil {
		return exit, fmt.Errorf("asking how the command ended: %w", b.d.explain(err))
	}
	exit.Code = found.ExitCode
	return exit, nil
}

// converse passes on what either side says until the program's has ended, its
// limit is over, or ctx.
func converse(ctx context.Context, conn types.HijackedResponse, tty bool, limit time.Duration) (timedOut bool, err error) {
	// It ends with the process: a read of a terminal cannot be called off.
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
// whenever that changes, until the returned function is called.
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

// resize is best effort. Daemons refuse while the command has not quite begun.
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

// stopAttached ends the container and all that runs in it.
func (b *box) stopAttached(ctx context.Context) error {
	ctx, cancel := b.d.call(ctx)
	defer cancel()
	ended, failed := b.d.api.ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
	if err := b.d.halt(ctx, b.id); err != nil {
		return err
	}
	select {
	case <-ended:
		b.lost = false
		return nil
	case err := <-failed:
		return fmt.Errorf("waiting for the container: %w", b.d.explain(err))
	}
}
