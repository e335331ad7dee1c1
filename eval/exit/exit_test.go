package exit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
)

// TestNumbers pins the exit codes that scripts of users compare with.
func TestNumbers(t *testing.T) {
	got := []Class{Passed, Failed, Usage, NotJudged, NoMatch, Stale, Bug, Interrupted}
	for i, want := range []Class{0, 1, 2, 3, 4, 5, 70, 130} {
		if got[i] != want {
			t.Errorf("class %d is exit code %d, want %d", i, got[i], want)
		}
	}
}

func TestError(t *testing.T) {
	err := fmt.Errorf("outer: %w", With(Stale, io.ErrUnexpectedEOF))
	var coded *Error
	if !errors.As(err, &coded) || coded.Class != Stale || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v has the class %v", err, coded)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{err, "outer: unexpected EOF"},
		{With(Failed, nil), "exit 1"},
		{Unmatched("%s matches %d nodes", "x", 0), "x matches 0 nodes"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if errors.As(Unmatched("none"), &coded); coded.Class != NoMatch {
		t.Errorf("Unmatched has the class %d", coded.Class)
	}
}

func TestOfExecution(t *testing.T) {
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("a signal"))
	for _, c := range []struct {
		name string
		ctx  context.Context
		rep  *graph.Report
		err  error
		want Class
	}{
		{"whole", t.Context(), &graph.Report{}, nil, Passed},
		{"interrupted before all else", cancelled, &graph.Report{InputErrors: 1, Broken: 1}, io.EOF, Interrupted},
		{"an error, without a report", t.Context(), nil, io.EOF, NotJudged},
		{"bad inputs before broken nodes", t.Context(), &graph.Report{InputErrors: 1, Broken: 1}, nil, Usage},
		{"broken", t.Context(), &graph.Report{Broken: 1}, nil, NotJudged},
		{"skipped", t.Context(), &graph.Report{Skipped: 1}, nil, NotJudged},
	} {
		if got := OfExecution(c.ctx, c.rep, c.err); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPast(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Class
	}{
		{event.ErrNoRuns, Usage},
		{errors.New("no run x"), Usage},
		{fmt.Errorf("opening: %w", &event.DamagedError{}), NotJudged},
	} {
		var coded *Error
		if err := Past(c.err); !errors.As(err, &coded) || coded.Class != c.want || !errors.Is(err, c.err) {
			t.Errorf("Past(%T) = %v", c.err, coded)
		}
	}
}
