package graph

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
)

type kindError struct{ kind string }

func (e *kindError) Error() string { return "in arbitrary words" }
func (e *kindError) Fault() string { return e.kind }

// The kind of an error and the category of its cause reach the status and the event of its node, regardless of the
// message.
func TestFaults(t *testing.T) {
	for kind, err := range map[string]error{
		"":  errors.New("plain"),
		"a": &kindError{"a"},
		"b": fmt.Errorf("wrapped: %w", &kindError{"b"}),
		"c": &InputError{Err: &kindError{"c"}},
	} {
		p := newProject(t)
		g := New()
		id := add(g, "node", &step{work: func(context.Context, *Work) (Outcome, error) { return Outcome{}, err }})
		o, seen := p.options(), &recorder{}
		o.Sink = seen
		st := p.executeWith(t.Context(), g, o).Status(id)
		var done event.NodeDone
		for _, e := range seen.events {
			if e, ok := e.(event.NodeDone); ok {
				done = e
			}
		}
		if st.Fault != kind || done.Fault != kind || done.Category != event.CauseNew || st.Message != err.Error() {
			t.Errorf("%v: status %q, event %q, category %q", err, st.Fault, done.Fault, done.Category)
		}
	}
}
