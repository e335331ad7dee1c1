package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/pkg/stdcopy"
)

const (
	// launchTimeout bounds the time from the start of a container to the word
	// of the script in it. It takes a tenth of a second, seconds under load.
	launchTimeout = 2 * time.Minute

	// endTimeout bounds the end of a container after SIGKILL.
	endTimeout = 30 * time.Second

	// drainTimeout is how long output may stand still after the container has
	// ended before the rest is given up.
	drainTimeout = 10 * time.Second

	// removeTimeout bounds what Close takes with a daemon that hangs.
	removeTimeout = 20 * time.Second
)

// job is one start of a box.
type job struct {
	script string
	limit  time.Duration // 0 is none
	grace  time.Duration
	out    io.Writer
}

// result is how a job ended.
type result struct {
	word     string  // the script's; only wordReady means that the program ran
	code     int     // -1 after a signal
	signal   string  // of the program's; "" when it exited
	timedOut bool    // the limit ended it
	seconds  float64 // from the script's word to the program's end
	told     bool    // an init said how the program ended
	oom      bool    // the container's memory ran out and something was killed
}

// running is a job under way.
type running struct {
	*box
	job
	conn    types.HijackedResponse
	control *control
	status  <-chan container.WaitResponse
	failed  <-chan error
	copied  chan struct{} // closed when the output is at its end
	copyErr error         // of reading; valid then
	sink    *sink
}

// run starts the container, sees the program to its end and the container to
// its own. Cancelling ctx ends it early with ctx's cause. Other errors mean
// that what became of the program is unknown.
func (b *box) run(ctx context.Context, j job) (result, error) {
	if b.lost {
		return result{}, errors.New("an earlier command lost the container")
	}
	b.lost = true // until the end is known
	r := &running{box: b, job: j, control: newControl(), copied: make(chan struct{}), sink: &sink{w: j.out}}
	waiting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if err := r.start(waiting); err != nil {
		return result{}, err
	}
	defer r.conn.Close()
	timedOut, err := r.await(ctx)
	if err != nil {
		return result{}, err
	}
	res, err := r.result(ctx, timedOut)
	if err != nil {
		return result{}, err
	}
	b.lost = false
	if cause := context.Cause(ctx); cause != nil && !timedOut {
		return result{}, cause
	}
	return res, r.sink.err
}

// start attaches, starts the container and hands it the script.
func (r *running) start(waiting context.Context) error {
	ctx, cancel := call(waiting)
	defer cancel()
	var err error
	r.conn, err = r.d.api.ContainerAttach(ctx, r.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("attaching to the container: %w", r.d.explain(err))
	}
	r.status, r.failed = r.d.api.ContainerWait(waiting, r.id, container.WaitConditionNextExit)
	if err := r.d.api.ContainerStart(ctx, r.id, container.StartOptions{}); err != nil {
		r.conn.Close()
		r.lost = false // it does not run
		return r.d.startError(err)
	}
	go func() {
		defer close(r.copied)
		_, r.copyErr = stdcopy.StdCopy(r.control, r.sink, r.conn.Reader)
	}()
	// A shell that ended early takes none of it; await sees to that.
	_, _ = io.WriteString(r.conn.Conn, r.script)
	_ = r.conn.CloseWrite()
	return nil
}

// startError says why a container does not start.
func (d *Daemon) startError(err error) error {
	err = d.explain(err)
	if says(err, "could not select device driver", "nvidia-container-cli", "unresolvable cdi devices") {
		return &GPUError{Err: err}
	}
	if says(err, "/proc/sys/net/ipv6/") {
		return fmt.Errorf("%w: %w", errNoIPv6, err)
	}
	if says(err, "unable to find user", "unable to find group", "no matching entries in passwd file", "no matching entries in group file") {
		return fmt.Errorf("the image does not know the user: %w", err)
	}
	return fmt.Errorf("starting the container: %w", err)
}

// errNoIPv6 is why a container does not start on a kernel without IPv6.
var errNoIPv6 = errors.New("the kernel has no IPv6")

// await returns when the container has ended, by itself or because of the
// limit or ctx, and whether the limit ended it.
func (r *running) await(ctx context.Context) (timedOut bool, err error) {
	launch := time.NewTimer(launchTimeout)
	defer launch.Stop()
	var expired <-chan time.Time
	said := r.control.said
	for {
		select {
		case status := <-r.status:
			return false, statusError(status)
		case err := <-r.failed:
			return false, fmt.Errorf("waiting for the container: %w", r.d.explain(err))
		case <-said:
			launch.Stop()
			said = nil
			if r.limit > 0 {
				_, began := r.control.launched()
				timer := time.NewTimer(time.Until(began.Add(r.limit)))
				defer timer.Stop()
				expired = timer.C
			}
		case <-launch.C:
			return false, errors.Join(fmt.Errorf("the container did not get to the command within %v", launchTimeout), r.end(ctx))
		case <-expired:
			if r.control.ended() != nil { // both at once: the program was in time
				expired = nil
				continue
			}
			return true, r.end(ctx)
		case <-ctx.Done():
			return false, r.end(ctx)
		}
	}
}

func statusError(status container.WaitResponse) error {
	if status.Error != nil {
		return fmt.Errorf("waiting for the container: %s", status.Error.Message)
	}
	return nil
}

// end stops the container: SIGTERM, the grace, SIGKILL. With its first process
// everything in it ends.
func (r *running) end(ctx context.Context) error {
	wait := func(d time.Duration) (ended bool, err error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case status := <-r.status:
			return true, statusError(status)
		case err := <-r.failed:
			return true, fmt.Errorf("waiting for the container: %w", r.d.explain(err))
		case <-timer.C:
			return false, nil
		}
	}
	for _, step := range []struct {
		signal string
		wait   time.Duration
	}{{"TERM", r.grace}, {"KILL", endTimeout}} {
		if err := r.kill(ctx, step.signal, step.wait); err != nil {
			return err
		}
		if ended, err := wait(step.wait); ended {
			return err
		}
	}
	return fmt.Errorf("the container did not end within %v of SIGKILL", endTimeout)
}

// kill sends a signal to the container's first process. One that has just
// ended is as good as signalled.
func (b *box) kill(ctx context.Context, signal string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience+endTimeout)
	defer cancel()
	err := b.d.api.ContainerKill(ctx, b.id, signal)
	if err == nil || notRunning(err) {
		return nil
	}
	return fmt.Errorf("ending the container: %w", b.d.explain(err))
}

// notRunning reports whether an error says that a container does not run.
func notRunning(err error) bool { return errdefs.IsConflict(err) || says(err, "is not running") }

// result reads the rest of the output and puts together what is known.
func (r *running) result(ctx context.Context, timedOut bool) (result, error) {
	now := time.Now()
	if err := r.drain(); err != nil {
		return result{}, err
	}
	look, cancel := call(ctx)
	defer cancel()
	found, err := r.d.api.ContainerInspect(look, r.id)
	if err != nil {
		return result{}, fmt.Errorf("asking how the container ended: %w", r.d.explain(err))
	}
	if found.State == nil || found.State.Running {
		return result{}, errors.New("the container runs although it has ended")
	}
	word, began := r.control.launched()
	if word == "" {
		return result{}, fmt.Errorf("the container ended with status %d before it got to the command%s", found.State.ExitCode, r.sink.excerpt())
	}
	res := result{word: word, code: found.State.ExitCode, timedOut: timedOut, oom: found.State.OOMKilled}
	ours := timedOut || context.Cause(ctx) != nil
	if !ours {
		if err := r.undisturbed(look, found.State); err != nil {
			return result{}, err
		}
	}
	end := r.control.ended()
	res.told = end != nil
	switch {
	case end != nil:
		now, res.signal = end.at, end.signal
	case ours || res.oom:
		res.signal = syscall.SIGKILL.String()
	case r.told:
		// Nothing inside can end the first process.
		return result{}, fmt.Errorf("something outside of the container ended it (status %d)", found.State.ExitCode)
	case res.code > signalBase && res.code <= signalBase+lastSignal:
		res.signal = syscall.Signal(res.code - signalBase).String()
	}
	if res.signal != "" {
		res.code = -1
	}
	res.seconds = now.Sub(began).Seconds()
	return res, nil
}

const (
	// signalBase is what shells and inits add to the number of a signal.
	signalBase = 128
	lastSignal = 31
)

// undisturbed returns an error if the daemon sent the container a signal, for
// somebody else or because it shuts down. What the program did then says
// nothing about it.
func (r *running) undisturbed(ctx context.Context, s *container.State) error {
	// The signal is noted after it is sent, so perhaps after the end.
	const slack = 20 * time.Millisecond
	until, err := time.Parse(time.RFC3339Nano, s.FinishedAt)
	if err != nil {
		return fmt.Errorf("reading when the container ended: %w", err)
	}
	messages, failed := r.d.api.Events(ctx, events.ListOptions{
		Since: s.StartedAt, Until: until.Add(slack).Format(time.RFC3339Nano),
		Filters: filters.NewArgs(filters.Arg("type", "container"), filters.Arg("container", r.id), filters.Arg("event", "kill")),
	})
	for {
		select {
		case m := <-messages:
			return fmt.Errorf("the daemon ended the container (signal %s), as it does when it is stopped or told to", m.Actor.Attributes["signal"])
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("asking who ended the container: %w", r.d.explain(err))
		}
	}
}

// drain waits for the end of the output, as long as more comes.
func (r *running) drain() error {
	for last := int64(-1); ; {
		select {
		case <-r.copied:
			if r.copyErr != nil {
				return fmt.Errorf("reading the output: %w", r.d.explain(r.copyErr))
			}
			return nil
		case <-time.After(drainTimeout):
		}
		read := r.sink.read.Load()
		if read == last {
			return fmt.Errorf("the output did not end within %v of the container", drainTimeout)
		}
		last = read
	}
}

// sink takes the program's output.
type sink struct {
	w     io.Writer
	err   error        // the writer's first
	read  atomic.Int64 // bytes
	early bytes.Buffer // the first of them
}

// Write implements io.Writer and never fails: a full disk of ours must neither
// stop the program nor be blamed on it.
func (s *sink) Write(p []byte) (int, error) {
	s.read.Add(int64(len(p)))
	if room := excerptLimit - s.early.Len(); room > 0 {
		s.early.Write(p[:min(room, len(p))])
	}
	if s.w != nil && s.err == nil {
		_, s.err = s.w.Write(p)
	}
	return len(p), nil
}

const excerptLimit = 4 << 10

// excerpt is what was said by a container in which no program ran.
func (s *sink) excerpt() string {
	text := strings.TrimSpace(string(bytes.ToValidUTF8(s.early.Bytes(), []byte("?"))))
	if text == "" {
		return ""
	}
	return ": " + text
}
