package pytest

import (
	"context"
	"errors"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

func TestKeep(t *testing.T) {
	good, red := backend.Exit{}, backend.Exit{Code: 1}
	slow := backend.Exit{Code: -1, Signal: "killed", TimedOut: true}
	unplugged := errors.New("unplugged")
	for _, try := range []struct {
		keep  session.Keep
		exit  backend.Exit
		err   error
		setup int // exit code
		want  int
	}{
		{keep: "", exit: red}, {keep: session.KeepNever, exit: red}, {keep: session.KeepNever, err: unplugged},
		{keep: session.KeepFailed, exit: good},
		{keep: session.KeepFailed, exit: red, want: 1},
		{keep: session.KeepFailed, exit: slow, want: 1},
		{keep: session.KeepFailed, err: unplugged, want: 1},
		{keep: session.KeepFailed, setup: 127, want: 1},
		{keep: session.KeepFailed, err: &backend.AbsentError{Device: "GPU", Err: unplugged}},
		{keep: session.KeepFailed, err: &backend.PreemptedError{Err: unplugged}}, // no machine is left to keep
		{keep: session.KeepFailed, err: &backend.SettingError{Setting: "user", Err: unplugged}},
		{keep: session.KeepFailed, err: context.Canceled, want: 1}, // of another context: this run continues
		{keep: session.KeepAlways, exit: good, want: 1},
		{keep: session.KeepAlways, exit: red, want: 1},
	} {
		s, kept := newBench(t), 0
		s.box.Can.Keep = func(context.Context, backend.Session) (string, error) {
			kept++
			return "enter", nil
		}
		s.run.Keep, s.run.Setup = try.keep, []string{"set up"}
		s.setup = func(*fake.Call) (backend.Exit, error) { return backend.Exit{Code: try.setup}, nil }
		s.probe = func(*fake.Call) (backend.Exit, error) { return backend.Exit{Code: 3}, nil } // the program is missing
		s.tests = func(c *fake.Call) (backend.Exit, error) {
			if try.exit.Code == 0 && try.err == nil {
				passing(c)
			}
			return try.exit, try.err
		}
		st, _ := s.execute()
		if kept != try.want {
			t.Errorf("%s, %+v, %v: kept %d, want %d (%s: %s)", try.keep, try.exit, try.err, kept, try.want, st.State, st.Message)
		}
		if setting := (*backend.SettingError)(nil); errors.As(try.err, &setting) && (st.State != event.Failed || !st.Input) {
			t.Errorf("%v: %s", try.err, st.State)
		}
		if absent := (*backend.AbsentError)(nil); errors.As(try.err, &absent) && st.State != event.Skipped {
			t.Errorf("%v: %s", try.err, st.State)
		}
	}
}
