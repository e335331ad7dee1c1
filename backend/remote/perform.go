package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/retry"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// actionSpec is an action to execute.
type actionSpec struct {
	name    string // for messages
	task    wire.Task
	notes   io.Writer      // can be nil
	expects bool           // the worker must have the known identity
	judge   bool           // the action contains go-judge
	limit   time.Duration  // timeout of the task's program; 0 means no limit
	entries []cache.Entry  // of the input root, next to the program and the task
	needs   []cache.Output // digests in the store that the server needs
	blobs   reapi.Messages // as needs, but in memory
	has     []cache.Digest // digests that only the server has
}

// overhead limits the time of an action besides its task's program: fetching inputs, creating a workspace,
// identifying the machine.
const overhead = 10 * time.Minute

// tries limits the attempts at an action whose machine or blobs were lost. The engine itself has tried
// each attempt more than once.
const tries = 3

// refusals limits the attempts at an action that the engine refuses as busy while it accepts others: the
// action may be too large for it.
const refusals = 10

// perform executes an action. If the task fails, its error is returned.
func (b *Backend) perform(ctx context.Context, w *actionSpec) (*wire.Result, error) {
	w.task.Protocol, w.task.Host = wire.Protocol, b.opt.Host
	if w.expects {
		var err error
		if w.task.Expect, err = b.expectedIdentity(w.judge); err != nil {
			return nil, err
		}
	}
	timeout := b.opt.MaxTimeout
	if w.limit > 0 {
		timeout = min(timeout, w.limit+overhead)
	}
	action, err := b.compose(w, timeout)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	missed := 0
	lost := retry.Tries{Patience: retry.Patience{For: b.opt.Patience, Calls: tries, Pause: time.Second}}
	away := retry.Tries{Patience: retry.Patience{For: b.opt.Patience, Pause: 2 * time.Second}}
	refused := retry.Tries{Patience: retry.Patience{For: b.opt.Patience, Calls: refusals, Note: func(err error) { b.note(w, "waiting: "+err.Error()) }}}
	for again := false; ; again = true {
		r, err := b.attempt(ctx, w, action, timeout, again)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var gone *reapi.LostError
		var missing *reapi.MissingError
		var unreachable *reapi.AwayError
		var busy *reapi.BusyError
		var none *reapi.NoWorkersError
		switch {
		case err == nil:
			if len(r.Different) > 0 {
				return nil, b.other(w.task.Expect, r)
			}
			if w.expects {
				b.confirmed.Store(true)
			}
			return r, r.Failure.Err()
		case errors.As(err, &missing):
			if missed++; missed >= tries || isGone(missing.Blobs, w.has) {
				return nil, &backend.PreemptedError{Err: fmt.Errorf("%s: %w", w.name, err)}
			}
		case errors.As(err, &gone):
			away.Progress()
			refused.Progress()
			if lost.Wait(ctx, err) != nil || lost.Failed() >= 10*tries {
				return nil, cmp.Or[error](context.Cause(ctx), &backend.PreemptedError{Err: fmt.Errorf("%s: %w", w.name, err)})
			}
			b.note(w, "the action was lost and runs again: "+gone.Error())
		case errors.As(err, &busy):
			if since := b.gate.busySince(); !since.IsZero() && time.Since(since) > b.opt.Patience {
				return nil, fmt.Errorf("%s: busy since %s: %w (hint: raise patience of the backend, or run fewer actions on the engine)", w.name, since.Format(time.TimeOnly), err)
			}
			away.Progress()
			if refused.Wait(ctx, err) != nil && ctx.Err() == nil {
				return nil, fmt.Errorf("%s: refused %d times in %v, while the engine took others: %w", w.name, refused.Failed(), b.opt.Patience, err)
			}
		case errors.As(err, &unreachable), errors.As(err, &none):
			if away.Wait(ctx, err) != nil && ctx.Err() == nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
		default:
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// isGone reports whether the server lost content that only it had, so that a retry cannot help.
func isGone(blobs, has []cache.Digest) bool {
	return slices.ContainsFunc(blobs, func(d cache.Digest) bool { return slices.Contains(has, d) })
}

// attempt uploads content that the server lacks, and executes the action once.
func (b *Backend) attempt(ctx context.Context, w *actionSpec, action cache.Digest, timeout time.Duration, again bool) (r *wire.Result, err error) {
	if again { // the answer might have been lost, not the action
		if found, err := b.opt.Client.ActionResult(ctx, action); err == nil && found != nil {
			if r, err := b.read(ctx, found); err == nil && r.Failure == nil {
				return r, nil
			}
		}
	}
	if err := b.gate.enter(ctx); err != nil {
		return nil, err
	}
	answer, wait := noAnswer, time.Duration(0)
	defer func() { b.gate.leave(answer, wait) }()
	epoch := b.opt.Sender.Epoch()
	if err := b.supply(ctx, w); err != nil {
		return nil, err
	}
	q := &queue{began: time.Now(), note: func(text string) { b.note(w, text) }}
	defer q.stop()
	done, err := b.opt.Client.Execute(ctx, action, reapi.Execution{SkipCache: true, Timeout: timeout, Platform: b.platformText(), Progress: q.progress})
	var missing *reapi.MissingError
	var busy *reapi.BusyError
	var unreachable *reapi.AwayError
	switch {
	case errors.As(err, &busy):
		answer, wait = engineRefused, busy.Wait
	case !errors.As(err, &unreachable):
		answer = engineAccepted
	}
	if errors.As(err, &missing) {
		b.opt.Sender.Forget(epoch)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case done.TimedOut && w.limit > 0 && w.limit < timeout:
		return nil, fmt.Errorf("the engine ended the action after %v, before the command's timeout: its worker may be overloaded", timeout)
	case done.TimedOut:
		return nil, fmt.Errorf("the engine ended the action after %v, before any limit of fevalgraph (hint: raise the engine's limit of actions, and max_timeout with it)", timeout)
	}
	if code := done.Result.GetExitCode(); code != 0 {
		return nil, fmt.Errorf("the program of the action ended with exit status %d: %s", code, b.words(ctx, done.Result))
	}
	return b.read(ctx, done.Result)
}

func (b *Backend) note(w *actionSpec, text string) {
	if w.notes != nil {
		fmt.Fprintln(w.notes, text)
	}
}

// queueNotice is the time in the queue after which a note reports that an action is waiting.
const queueNotice = 10 * time.Second

// queue notes that an action is waiting for a worker.
type queue struct {
	began time.Time
	note  func(string)
	timer *time.Timer
}

func (q *queue) progress(stage execution.ExecutionStage_Value) {
	switch stage {
	case execution.ExecutionStage_QUEUED:
		if q.timer == nil {
			q.timer = time.AfterFunc(queueNotice, func() { q.note("waiting for a worker of the engine") })
		}
	case execution.ExecutionStage_EXECUTING:
		q.stop()
		if waited := time.Since(q.began); waited >= queueNotice {
			q.note(fmt.Sprintf("a worker began after %v", waited.Round(time.Second)))
		}
	}
}

func (q *queue) stop() {
	if q.timer != nil {
		q.timer.Stop()
	}
}

// words returns the last lines that the program of an action printed.
func (b *Backend) words(ctx context.Context, r *execution.ActionResult) string {
	text := r.GetStderrRaw()
	if d, err := reapi.Parse(r.GetStderrDigest()); err == nil && len(text) == 0 && d.Size < 1<<20 {
		text, _ = b.blob(ctx, d)
	}
	const last = 2000
	return fmt.Sprintf("%q", text[max(0, len(text)-last):])
}

// read fetches the result of an action.
func (b *Backend) read(ctx context.Context, r *execution.ActionResult) (*wire.Result, error) {
	for _, f := range r.GetOutputFiles() {
		if f.GetPath() != wire.ResultFile {
			continue
		}
		d, err := reapi.Parse(f.GetDigest())
		if err != nil {
			return nil, err
		}
		text, err := b.blob(ctx, d)
		if err != nil {
			return nil, err
		}
		result := &wire.Result{}
		if err := json.Unmarshal(text, result); err != nil {
			return nil, fmt.Errorf("reading the result of an action: %w", err)
		}
		if result.Protocol != wire.Protocol {
			return nil, fmt.Errorf("the result is of protocol %d, not %d", result.Protocol, wire.Protocol)
		}
		return result, nil
	}
	return nil, errors.New("the program of the action wrote no result")
}

// blob reads a blob of the server. A missing blob is a *reapi.MissingError.
func (b *Backend) blob(ctx context.Context, d cache.Digest) ([]byte, error) {
	if d.Size == 0 {
		return nil, nil
	}
	var content []byte
	isAway := func(err error) bool {
		var away *reapi.AwayError
		return errors.As(err, &away)
	}
	err := retry.Patience{For: b.opt.Patience, Pause: 100 * time.Millisecond, Longest: 5 * time.Second}.Do(ctx, isAway, func() error {
		content = nil
		return b.opt.Client.Read(ctx, []cache.Digest{d}, func(got cache.Digest, r io.Reader) error {
			text, err := io.ReadAll(io.LimitReader(r, d.Size+1))
			if err == nil && cache.SumBytes(text) == d {
				content = text
			}
			return err
		})
	})
	if err == nil && content == nil {
		err = &reapi.MissingError{Blobs: []cache.Digest{d}, Err: errors.New("it is missing or damaged")}
	}
	return content, err
}
