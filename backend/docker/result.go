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

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"github.com/fevalgraph/fevalgraph/backend"
)

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

// result reads the rest of the output and puts together what is known.
func (r *running) result(ctx context.Context, timedOut bool) (result, error) {
	now := time.Now()
	if err := r.drain(); err != nil {
		return result{}, err
	}
	look, cancel := r.d.call(ctx)
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
	if kills, counted := r.control.oomKills(); counted {
		res.oom = kills > 0 // the daemon's flag comes too late when the end is near
	}
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

// exit is what a result means to the caller.
func (b *Backend) exit(res result) backend.Exit {
	exit := backend.Exit{Code: res.code, Signal: res.signal, TimedOut: res.timedOut, Seconds: res.seconds}
	if res.oom && b.opt.Memory != 0 {
		exit.OOM, exit.OOMLimit = true, b.opt.Memory
	}
	return exit
}

const (
	// signalBase is what shells and inits add to the number of a signal.
	signalBase = 128
	lastSignal = 31
)

// undisturbed returns an error if the daemon sent the container a signal, for
// another client or because it shuts down. What the program did then proves
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
		case <-time.After(r.d.wait.drain):
		}
		read := r.sink.read.Load() + r.control.read.Load()
		if read == last {
			return fmt.Errorf("the output did not end within %v of the container", r.d.wait.drain)
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
