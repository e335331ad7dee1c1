// Package exit classifies how a call of the application ends. It knows only the exit codes of the program's
// contract.
package exit

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Class is the class of an ending. The numbers are the exit codes of the program.
type Class int

// The classes.
const (
	Passed      Class = 0
	Failed      Class = 1   // judged, something fails its policy
	Usage       Class = 2   // usage or configuration error
	NotJudged   Class = 3   // something could not be judged
	NoMatch     Class = 4   // nothing was selected that could be judged
	Stale       Class = 5   // a plan was to find nothing stale
	Bug         Class = 70  // a bug in fevalgraph
	Interrupted Class = 130 // the context ended first
)

// Error is an error and the class of exit code that it calls for.
type Error struct {
	Class Class
	Err   error // nil if all has been reported
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Class)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// With gives an error a class.
func With(class Class, err error) error { return &Error{class, err} }

// Unmatched returns the error of a selector that picks nothing.
func Unmatched(format string, args ...any) error { return With(NoMatch, fmt.Errorf(format, args...)) }

// OfExecution returns the class of the worst failure in an execution, or Passed. err is the reason why the
// execution has no outcome.
func OfExecution(ctx context.Context, rep *graph.Report, err error) Class {
	switch {
	case context.Cause(ctx) != nil:
		return Interrupted
	case err != nil:
		return NotJudged
	case rep.InputErrors > 0:
		return Usage
	case rep.Broken > 0, rep.Skipped > 0:
		return NotJudged
	}
	return Passed
}

// Past classifies the error of a past run that cannot be shown: the request can be wrong, or the record
// damaged.
func Past(err error) error {
	var damaged *event.DamagedError
	if errors.As(err, &damaged) {
		return With(NotJudged, err)
	}
	return With(Usage, err)
}
