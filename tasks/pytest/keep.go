package pytest

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/ending"
)

// Keep says whose workspaces stay for a person to enter.
type Keep string

const (
	KeepNever  Keep = "never"
	KeepFailed Keep = "failed" // where pytest did not end with 0, or the run broke
	KeepAlways Keep = "always"
)

// wants reports whether the workspace of a run stays that ended so. exit is nil
// when pytest was never started.
func (k Keep) wants(exit *backend.Exit, err error) bool {
	switch k {
	case KeepFailed:
		return err != nil || exit == nil || exit.Code != 0 || exit.TimedOut
	case KeepAlways:
		return true
	}
	return false
}

// keep has the session stay, if that is wanted, and tells how to enter it. What
// an interrupt ended, and what never had a place to run, is not worth a look.
func (r *Run) keep(ctx context.Context, w *graph.Work, session backend.Session, exit *backend.Exit, err error) {
	sessionKeep := r.Backend.Capabilities().Keep
	if sessionKeep == nil || !r.Keep.wants(exit, err) || ctx.Err() != nil || ending.WithClass(err) != err {
		return
	}
	how, keepErr := sessionKeep(context.WithoutCancel(ctx), session)
	switch {
	case keepErr != nil:
		fmt.Fprintln(w.Log, keepErr)
		w.Note(keepErr.Error())
	case how != "":
		w.Note("kept; to enter it: " + how)
	}
}
