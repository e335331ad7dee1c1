package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// Work whose machine was taken away is done again: at once, without using up an attempt,
// and not for ever.
func TestPreempted(t *testing.T) {
	for _, try := range []struct {
		name     string
		breaks   []bool // end of each attempt up to a good one: true means a preemption
		attempts int    // that the node has
		state    event.State
		counted  []int // numbers of the attempts
		told     int
		waited   time.Duration
	}{
		{name: "once", breaks: []bool{true}, state: event.Done, counted: []int{1, 1}, told: 1},
		{name: "between failures", breaks: []bool{true, false, true, true}, attempts: 2, state: event.Done,
			counted: []int{1, 1, 2, 2, 2}, told: 3, waited: time.Hour},
		{name: "all attempts left", breaks: []bool{true, false, true, false}, attempts: 2, state: event.Broken,
			counted: []int{1, 1, 2, 2}, told: 2, waited: time.Hour},
		{name: "always", breaks: slices.Repeat([]bool{true}, 20), attempts: 5, state: event.Broken,
			counted: slices.Repeat([]int{1}, 11), told: 10},
	} {
		t.Run(try.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, g := newProject(t), New()
				var counted []int
				work := &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
					counted = append(counted, w.Attempt)
					n := len(counted)
					switch {
					case n > len(try.breaks):
						return out(ctx, w, "x")
					case try.breaks[n-1]:
						return Outcome{}, fmt.Errorf("running: %w", &PreemptedError{Err: fmt.Errorf("machine %d is gone", n)})
					}
					return Outcome{}, errors.New("unplugged")
				}}
				g.Add(Node{Addr: "a", Kind: "step", Task: work, Retry: Retry{Attempts: try.attempts, Wait: time.Hour}})
				o, sink := p.options(), &recorder{}
				o.Sink, o.LockPoll = sink, time.Minute
				started := time.Now()
				r := p.executeWith(t.Context(), g, o)
				st := r.Status(0)
				if st.State != try.state || r.Preempted != try.told || !slices.Equal(counted, try.counted) {
					t.Errorf("%s, preempted %d times, attempts %v", st.State, r.Preempted, counted)
				}
				if last := try.counted[len(try.counted)-1]; st.Attempts != last {
					t.Errorf("%d attempts were counted, want %d", st.Attempts, last)
				}
				if waited := time.Since(started); waited != try.waited {
					t.Errorf("waited %v", waited)
				}
				if try.name == "always" && st.Message != "running: machine 11 is gone" {
					t.Errorf("message %q", st.Message)
				}
				told := 0
				for _, e := range sink.events {
					if retry, ok := e.(event.NodeRetry); ok && retry.Preempted {
						told++
						if retry.Wait != 0 || try.name == "once" && retry.Reason != "running: machine 1 is gone" {
							t.Errorf("%+v", retry)
						}
					}
				}
				if told != try.told {
					t.Errorf("%d preemptions were reported", told)
				}
			})
		})
	}
}
