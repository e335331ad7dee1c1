// Package exit classifies the results of calls by the exit codes of the program.
package exit

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Class is the class of a result. Its values are the exit codes of the program.
type Class int

// Exit classes.
const (
	Passed      Class = 0
	Failed      Class = 1   // judged, and some pass rule was not met
	Usage       Class = 2   // usage or configuration error
	NotJudged   Class = 3   // something could not be judged
	NoMatch     Class = 4   // nothing to judge was selected
	Stale       Class = 5   // a plan was expected to find nothing stale
	Bug         Class = 70  // a bug in fevalgraph
	Interrupted Class = 130 // the context ended first
)

// Error is an error with a class of exit code.
type Error struct {
	Class Class
	Err   error // nil if everything was reported
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Class)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// With adds a class to an error.
func With(class Class, err error) error { return &Error{class, err} }

// Unmatched returns the error for a selector without a match.
func Unmatched(format string, args ...any) error { return With(NoMatch, fmt.Errorf(format, args...)) }

// OfExecution returns the class of the worst failure in an execution, or Passed. err is set if the execution
// has no outcome.
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

// Past classifies an error of reading a past run: an invalid request, or a damaged record.
func Past(err error) error {
	var damaged *event.DamagedError
	if errors.As(err, &damaged) {
		return With(NotJudged, err)
	}
	return With(Usage, err)
}
