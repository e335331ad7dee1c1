package session

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// The engine learns that a machine was preempted, and its current work.
func TestWithClassPreempted(t *testing.T) {
	lost := fmt.Errorf("running pytest: %w", &backend.PreemptedError{Err: errors.New("spot instance ended")})
	classed := WithClass(lost)
	if preempted := (*graph.PreemptedError)(nil); !errors.As(classed, &preempted) {
		t.Fatalf("%T is no *graph.PreemptedError", classed)
	}
	if want := "running pytest: the machine was taken away: spot instance ended"; classed.Error() != want {
		t.Errorf("got %q, want %q", classed, want)
	}
}
