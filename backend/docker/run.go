package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// runner is the first process of a running container.
type runner struct {
	*worker.Stream
	box   *box
	conn  types.HijackedResponse
	out   *io.PipeReader // its standard output, which Stream reads
	words *excerpt       // its standard error, complete when read is closed
	read  chan struct{}
	grace time.Duration
}

// lastWords returns what an ended container wrote to its standard error: a failed write to the stream can be noticed
// before that has been read.
func (r *runner) lastWords() string {
	go func() { _, _ = io.Copy(io.Discard, r.out) }()
	select {
	case <-r.read:
	case <-time.After(r.box.d.wait.call):
	}
	return r.words.String()
}

// start starts the container and, if spec is set, opens the session in it. After an error, the box has no
// runner.
func (b *box) start(ctx context.Context, store cache.Store, spec backend.Spec, grace time.Duration) (err error) {
	waiting, cancel := b.d.call(ctx)
	defer cancel()
	conn, err := b.d.api.ContainerAttach(waiting, b.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("attaching to the container: %w", b.d.explain(err))
	}
	if err := b.d.api.ContainerStart(waiting, b.id, container.StartOptions{}); err != nil {
		conn.Close()
		return b.d.startError(err)
	}
	out, w := io.Pipe()
	r := &runner{box: b, conn: conn, out: out, words: &excerpt{}, read: make(chan struct{}), grace: grace}
	go func() {
		defer close(r.read)
		_, err := stdcopy.StdCopy(w, r.words, conn.Reader)
		w.CloseWithError(err)
	}()
	b.runner = r
	launch := time.AfterFunc(b.d.wait.call, func() { r.abort(ctx) })
	defer launch.Stop()
	if r.Stream, err = worker.OpenStream(ctx, out, conn.Conn, store, spec); err != nil {
		err = r.blame(ctx, err)
		return errors.Join(err, b.end(ctx))
	}
	return nil
}

// abort ends the container through the daemon, and then the stream, whatever the result.
func (r *runner) abort(ctx context.Context) {
	if err := r.box.d.halt(ctx, r.box.id); err != nil {
		r.conn.Close()
		return
	}
	time.AfterFunc(r.box.d.wait.call, func() { r.conn.Close() })
}

// startError explains why a container does not start.
func (d *Daemon) startError(err error) error {
	err = d.explain(err)
	if mentions(err, "could not select device driver", "nvidia-container-cli", "unresolvable cdi devices") {
		return &backend.AbsentError{Device: "GPU", Err: err}
	}
	if mentions(err, "/proc/sys/net/ipv6/") {
		return fmt.Errorf("%w: %w", errNoIPv6, err)
	}
	return fmt.Errorf("starting the container: %w", err)
}

// errNoIPv6 means that a container did not start because the kernel has no IPv6.
var errNoIPv6 = errors.New("the kernel has no IPv6")

// run runs a command. If the runner, which competes with the command for processor time, does not end it
// in time, the daemon does.
func (r *runner) run(ctx context.Context, cmd backend.Command) (exit backend.Exit, err error) {
	var mu sync.Mutex
	var timedOut, begun, over bool
	began := time.Now()
	halt := func(late bool) func() {
		return func() {
			mu.Lock()
			timedOut = timedOut || late && !over
			ended := over
			mu.Unlock()
			if !ended {
				r.abort(ctx)
			}
		}
	}
	watch := time.AfterFunc(r.box.d.wait.call, halt(false))
	defer func() { watch.Stop() }()
	r.Started = func() {
		watch.Stop()
		mu.Lock()
		defer mu.Unlock()
		began, begun = time.Now(), true
		if cmd.Timeout > 0 {
			watch = time.AfterFunc(cmd.Timeout+r.grace+endedSlack, halt(true))
		}
	}
	defer context.AfterFunc(ctx, func() { time.AfterFunc(r.grace+endedSlack, halt(false)) })()
	exit, err = r.Exec(ctx, cmd)
	mu.Lock()
	defer mu.Unlock()
	over = true
	broken := (*worker.BrokenError)(nil)
	if !errors.As(err, &broken) {
		return exit, err
	}
	r.box.stateUnknown = true // until its end is known
	state, stateErr := r.state(ctx)
	words := ""
	if stateErr == nil {
		words = r.lastWords()
		r.conn.Close()
		r.box.runner = nil
	}
	ended := backend.Exit{Code: -1, Signal: syscall.SIGKILL.String(), TimedOut: timedOut, Seconds: time.Since(began).Seconds()}
	switch cause := context.Cause(ctx); {
	case timedOut && stateErr == nil:
		r.box.stateUnknown = false
		return ended, nil
	case cause != nil:
		r.box.stateUnknown = stateErr != nil
		return backend.Exit{}, cause
	case stateErr != nil:
		return backend.Exit{}, stateErr
	case state.OOMKilled && begun:
		r.box.stateUnknown, ended.OOM = false, true
		return ended, nil
	case begun:
		return backend.Exit{}, fmt.Errorf("the container was ended from outside (status %d)%s", state.ExitCode, words)
	}
	return backend.Exit{}, fmt.Errorf("the container ended with status %d before the command started%s", state.ExitCode, words)
}

// endedSlack is the delay after which the daemon ends a command that its runner has not ended.
const endedSlack = 2 * time.Second

// blame returns the reason why a stream broke; other errors are unchanged.
func (r *runner) blame(ctx context.Context, err error) error {
	broken := (*worker.BrokenError)(nil)
	if !errors.As(err, &broken) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	state, stateErr := r.state(ctx)
	if stateErr != nil {
		return stateErr
	}
	return fmt.Errorf("the container ended with status %d: %w%s", state.ExitCode, err, r.lastWords())
}

// state waits for the end of the container, and returns its final state.
func (r *runner) state(ctx context.Context) (*container.State, error) {
	d := r.box.d
	if err := d.awaitEnd(ctx, r.box.id); err != nil {
		return nil, err
	}
	look, cancel := d.call(ctx)
	defer cancel()
	found, err := d.api.ContainerInspect(look, r.box.id)
	if err != nil {
		return nil, fmt.Errorf("querying the container's exit: %w", d.explain(err))
	}
	if found.State == nil || found.State.Running {
		return nil, errors.New("the container runs although its first process has ended")
	}
	return found.State, nil
}

// awaitEnd waits until a container does not run.
func (d *Daemon) awaitEnd(ctx context.Context, id string) error {
	ctx, cancel := d.call(ctx)
	defer cancel()
	status, failed := d.api.ContainerWait(ctx, id, container.WaitConditionNotRunning)
	select {
	case s := <-status:
		if s.Error != nil {
			return fmt.Errorf("waiting for the container: %s", s.Error.Message)
		}
		return nil
	case err := <-failed:
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("the container did not end within %v", d.wait.call)
		}
		return fmt.Errorf("waiting for the container: %w", d.explain(err))
	}
}

// end ends the first process of the container, and thus all others. The container can be started again, or
// kept.
func (b *box) end(ctx context.Context) error {
	if b.runner == nil {
		return nil
	}
	b.runner.conn.Close()
	if err := b.d.halt(ctx, b.id); err != nil {
		return err
	}
	if err := b.d.awaitEnd(ctx, b.id); err != nil {
		return err
	}
	b.runner = nil
	return nil
}

// excerpt keeps the beginning of a runner's messages about its own failure.
type excerpt struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const excerptLimit = 4 << 10

// Write implements io.Writer and never fails.
func (e *excerpt) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text.Write(p[:min(len(p), max(0, excerptLimit-e.text.Len()))])
	return len(p), nil
}

// String returns it in a form for the end of a sentence.
func (e *excerpt) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := strings.TrimSpace(string(bytes.ToValidUTF8(e.text.Bytes(), []byte("?"))))
	if text == "" {
		return ""
	}
	return ": " + text
}
