package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/fevalgraph/fevalgraph/backend"
)

// job is one start of a box.
type job struct {
	script string
	limit  time.Duration // 0 is none
	grace  time.Duration
	out    io.Writer
	errs   io.Writer // of the program, when apart from out; else nil
	token  string    // of the script's launch
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
	r := &running{box: b, job: j, control: newControl(j.errs, j.token), copied: make(chan struct{}), sink: &sink{w: j.out}}
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
	return res, errors.Join(r.sink.err, r.control.flush())
}

// start attaches, starts the container and hands it the script.
func (r *running) start(waiting context.Context) error {
	ctx, cancel := r.d.call(waiting)
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
		return &backend.AbsentError{Device: "GPU", Err: err}
	}
	if says(err, "/proc/sys/net/ipv6/") {
		return fmt.Errorf("%w: %w", errNoIPv6, err)
	}
	if says(err, "unable to find user", "unable to find group", "no matching entries in passwd file", "no matching entries in group file") {
		return &backend.SettingError{Setting: "user", Err: fmt.Errorf("the image does not know it: %w", err),
			Hint: "write a number, such as 1000:1000, or a name that the image has"}
	}
	return fmt.Errorf("starting the container: %w", err)
}

// errNoIPv6 is why a container does not start on a kernel without IPv6.
var errNoIPv6 = errors.New("the kernel has no IPv6")

// await returns when the container has ended, by itself or because of the
// limit or ctx, and whether the limit ended it.
func (r *running) await(ctx context.Context) (timedOut bool, err error) {
	launch := time.NewTimer(r.d.wait.launch)
	defer launch.Stop()
	var expired <-chan time.Time
	said, late := r.control.said, false
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
			return false, errors.Join(fmt.Errorf("the container did not get to the command within %v", r.d.wait.launch), r.end(ctx))
		case <-expired:
			if r.control.ended() != nil && !late { // both at once: the program was in time
				// Unless it only said so: then it goes on.
				late = true
				timer := time.NewTimer(endedSlack)
				defer timer.Stop()
				expired = timer.C
				continue
			}
			return true, r.end(ctx)
		case <-ctx.Done():
			return false, r.end(ctx)
		}
	}
}

// endedSlack is how long a container may take to end after its program.
const endedSlack = 300 * time.Millisecond

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
	}{{"TERM", r.grace}, {"KILL", r.d.wait.end}} {
		if err := r.d.kill(ctx, r.id, step.signal, step.wait+r.d.wait.end); err != nil {
			return err
		}
		if ended, err := wait(step.wait); ended {
			return err
		}
	}
	return fmt.Errorf("the container did not end within %v of SIGKILL", r.d.wait.end)
}

// kill sends a signal to a container's first process. One that does not run is as
// good as signalled.
func (d *Daemon) kill(ctx context.Context, name, signal string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := d.api.ContainerKill(ctx, name, signal)
	if err == nil || errdefs.IsConflict(err) || says(err, "is not running") {
		return nil
	}
	return fmt.Errorf("ending container %s: %w", name, d.explain(err))
}
