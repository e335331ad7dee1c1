package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// InputError reports that a source in the configuration cannot be used. The user must fix it, so the node
// is neither broken nor retried.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// AbsentError reports that this machine lacks a device that the work needs, or that the call lacks another
// resource that no retry provides, such as money. The node is skipped: neither broken nor retried, and
// nothing is stored.
type AbsentError struct{ Err error }

func (e *AbsentError) Error() string { return e.Err.Error() }
func (e *AbsentError) Unwrap() error { return e.Err }

// PreemptedError reports that the machine that did the work was taken away. The work is repeated, and the
// attempt is not counted.
type PreemptedError struct{ Err error }

func (e *PreemptedError) Error() string { return e.Err.Error() }
func (e *PreemptedError) Unwrap() error { return e.Err }

// FailedError reports that the work itself failed, not a machine. The node is failed, and its result is
// not stored: the next run does the work again.
type FailedError struct{ Err error }

func (e *FailedError) Error() string { return e.Err.Error() }
func (e *FailedError) Unwrap() error { return e.Err }

// UnknownError reports that an input of the key must not be queried, so it is unknown whether the node is
// fresh. It occurs only in dry runs.
type UnknownError struct{ Err error }

func (e *UnknownError) Error() string { return e.Err.Error() }
func (e *UnknownError) Unwrap() error { return e.Err }

// Faulty is an error with a kind that readers of results need. Status and events contain the kind, since
// their messages are for humans.
type Faulty interface {
	error
	Fault() string
}

// IsInput reports whether err is about a source that the user named. On an exhausted machine, it returns
// false: the source could not be read.
func IsInput(err error) bool {
	var input *InputError
	return errors.As(err, &input) && !exhaustion.Is(err)
}

// isAbsent reports whether err means that the machine lacks a device.
func isAbsent(err error) bool {
	var absent *AbsentError
	return errors.As(err, &absent)
}

// isPreempted reports whether err means that the machine was taken away.
func isPreempted(err error) bool {
	var preempted *PreemptedError
	return errors.As(err, &preempted)
}

// isFailed reports whether err means that the work itself failed.
func isFailed(err error) bool {
	var failed *FailedError
	return errors.As(err, &failed)
}

// isUnknown reports whether err means that an input must not be queried.
func isUnknown(err error) bool {
	var unknown *UnknownError
	return errors.As(err, &unknown)
}

// describe, validate, predict and runTask turn a panic of a task into an error: a faulty node must not
// destroy the work of others.
func describe(ctx context.Context, t Task, m *Manifest) (err error) {
	defer recovered(&err)
	return t.Describe(ctx, m)
}

func validate(ctx context.Context, n *Node, r *cache.Record) (reason string, err error) {
	v, ok := n.Task.(Validator)
	if !ok || r.Class == cache.ClassFailed {
		return "", nil
	}
	defer recovered(&err)
	return v.Validate(ctx, r.Outputs)
}

func predict(p Predictor) (outputs []cache.Output, err error) {
	defer recovered(&err)
	return p.Predict()
}

func runTask(ctx context.Context, t Task, w *Work) (o Outcome, err error) {
	defer recovered(&err)
	return perform(ctx, t, w)
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &panicError{p, debug.Stack()}
	}
}

// panicError is a panic of a task.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("bug in fevalgraph: panic: %v", e.value) }
