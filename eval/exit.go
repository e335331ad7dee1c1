package eval

import (
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/event"
)

// Exit is the class of an ending. The numbers are the exit codes of the program.
type Exit int

// The classes; a call of this package ends in one of them.
const (
	Passed      Exit = 0
	Failed      Exit = 1   // judged, something fails its policy
	Usage       Exit = 2   // usage or configuration error
	NotJudged   Exit = 3   // something could not be judged
	NoMatch     Exit = 4   // nothing was selected that could be judged
	Interrupted Exit = 130 // the context ended first
)

// Error is an error and the class of exit code that it calls for.
type Error struct {
	Exit Exit
	Err  error // nil when all has been said
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Exit)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func fail(class Exit, err error) error { return &Error{class, err} }

// noMatch is the error of a selector that picks nothing.
func noMatch(format string, args ...any) error { return fail(NoMatch, fmt.Errorf(format, args...)) }

// pastFault is the class when a past run cannot be shown: what is asked for
// may be wrong, or its record may be damaged.
func pastFault(err error) error {
	var damaged *event.DamagedError
	if errors.As(err, &damaged) {
		return fail(NotJudged, err)
	}
	return fail(Usage, err)
}
