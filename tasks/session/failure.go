package session

import (
	"errors"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// WithClass tells the engine what an error of a backend's means: a mistake in the
// configuration, a device that is not there, a machine that was taken away, or else
// that something broke. What was being done when the first two showed is no help to
// anybody.
func WithClass(err error) error {
	var setting *backend.SettingError
	var absent *backend.AbsentError
	var preempted *backend.PreemptedError
	switch {
	case graph.IsInput(err):
	case errors.As(err, &setting):
		return &graph.InputError{Err: setting}
	case errors.As(err, &absent):
		return &graph.AbsentError{Err: absent}
	case errors.As(err, &preempted):
		return &graph.PreemptedError{Err: err}
	}
	return err
}
