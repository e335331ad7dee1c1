package session

import (
	"errors"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// WithClass classifies an error of a backend for the engine: an error in the configuration, a missing
// device, a machine that was taken away, or else a failure. For the first two it drops the context, which
// does not help the user.
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
