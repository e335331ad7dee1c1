package judge

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// scripted is a sandbox whose requests have the endings of a list in turn; the last one is repeated.
type scripted struct {
	ends  [][]backend.Ending
	asked [][]backend.Program
}

func (s *scripted) Identity(context.Context) (backend.Identity, error) { return nil, nil }

func (s *scripted) Run(_ context.Context, programs ...backend.Program) ([]backend.Ending, error) {
	s.asked = append(s.asked, programs)
	return s.ends[min(len(s.asked), len(s.ends))-1], nil
}

// Waiting for a busy machine does not count.
func TestPatient(t *testing.T) {
	const clock = 2 * time.Second
	late := func(cpu time.Duration, contended bool) backend.Ending {
		return backend.Ending{Status: backend.ClockLimit, CPU: cpu, Clock: clock, Contended: contended}
	}
	later := func(cpu time.Duration, contended bool) backend.Ending {
		e := late(cpu, contended)
		e.Clock *= longer
		return e
	}
	after := func(cpu, clock time.Duration) backend.Ending {
		return backend.Ending{Status: backend.ClockLimit, CPU: cpu, Clock: clock, Contended: true}
	}
	done := backend.Ending{Status: backend.Exited, CPU: 900 * time.Millisecond, Clock: 9 * time.Second, Contended: true}
	loops := backend.Ending{Status: backend.CPULimit, CPU: time.Second, Clock: 9 * time.Second, Contended: true}
	for _, try := range []struct {
		name  string
		ends  [][]backend.Ending
		asked int
		want  backend.EndingStatus // "" is broken
		took  time.Duration
	}{
		{"in time", [][]backend.Ending{{done}}, 1, backend.Exited, done.Clock},
		{"waits on a machine with time to spare", [][]backend.Ending{{late(500*time.Millisecond, false)}}, 1, backend.ClockLimit, clock},
		{"sleeps on a busy machine", [][]backend.Ending{{late(time.Millisecond, true)}}, 1, backend.ClockLimit, clock},
		{"was held up", [][]backend.Ending{{late(500*time.Millisecond, true)}, {done}}, 2, backend.Exited, done.Clock},
		{"loops, and was held up", [][]backend.Ending{{late(500*time.Millisecond, true)}, {loops}}, 2, backend.CPULimit, loops.Clock},
		{"held up again", [][]backend.Ending{{late(100*time.Millisecond, true)}, {later(800*time.Millisecond, true)}, {done}}, 2, "", 0},
		{"gets a byte at intervals", [][]backend.Ending{{late(100*time.Millisecond, true), late(100*time.Millisecond, true)}, {later(800*time.Millisecond, true), later(800*time.Millisecond, true)}}, 2, "", 0},
		{"computes, then sleeps", [][]backend.Ending{{late(500*time.Millisecond, true)}, {later(510*time.Millisecond, true)}}, 2, backend.ClockLimit, clock},
		{"the machine got time to spare", [][]backend.Ending{{late(100*time.Millisecond, true)}, {later(800*time.Millisecond, false)}}, 2, backend.ClockLimit, clock},
		{"talks, and was held up", [][]backend.Ending{{late(time.Millisecond, true), {Status: backend.Exited}}, {done, {Status: backend.Exited}}}, 2, backend.Exited, done.Clock},
		{"does not talk", [][]backend.Ending{{late(time.Millisecond, true), {Status: backend.Exited}}, {later(3*time.Millisecond, true), {Status: backend.Exited}}}, 2, backend.ClockLimit, clock},
		{"waits for one that loops after it", [][]backend.Ending{{late(time.Millisecond, true), after(20*time.Millisecond, clock+30*time.Millisecond)}, {later(time.Millisecond, true), after(5*time.Second, longer*clock+6*time.Second)}}, 2, backend.ClockLimit, clock},
		{"talks to a hanging one", [][]backend.Ending{{late(time.Millisecond, true), late(time.Millisecond, true)}, {later(3*time.Millisecond, true), later(time.Millisecond, true)}}, 2, backend.ClockLimit, clock},
	} {
		t.Run(try.name, func(t *testing.T) {
			box := &scripted{ends: try.ends}
			programs := make([]backend.Program, len(try.ends[0]))
			for i := range programs {
				programs[i].Limits.Clock = clock
			}
			b := &Box{Sandbox: box}
			ends, err := b.run(t.Context(), programs...)
			if err == nil {
				ends, err = b.patience(t.Context(), ends, programs...)
			}
			if len(box.asked) != try.asked {
				t.Fatalf("run %d times, want %d", len(box.asked), try.asked)
			}
			limit := clock
			for i, asked := range box.asked {
				if got := asked[0].Limits.Clock; got != limit {
					t.Errorf("run %d has a limit of %v, want %v", i+1, got, limit)
				}
				limit *= longer
			}
			switch {
			case try.want == "":
				if !graph.IsCrowded(err) || !strings.Contains(err.Error(), "800ms of processor time in 16s: the machine is too busy for a limit of 2s") {
					t.Errorf("the error is %v", err)
				}
			case err != nil || ends[0].Status != try.want || ends[0].Clock != try.took:
				t.Errorf("it ended as %+v, %v", ends, err)
			}
		})
	}
}

// TestSettled: a source that makes the compiler wait does not compile; the wait for a busy machine is not a
// reason for that.
func TestSettled(t *testing.T) {
	waits := backend.Ending{Status: backend.ClockLimit, CPU: time.Millisecond, Clock: 2 * time.Second, Contended: true}
	starved := backend.Ending{Status: backend.ClockLimit, CPU: time.Second, Clock: 2 * time.Second, Contended: true}
	fails := backend.Ending{Status: backend.Exited, Code: 1, Stderr: []byte("main.cpp:1:1: error: no")}
	for _, try := range []struct {
		name  string
		ends  [][]backend.Ending
		asked int
		text  string
	}{
		{"waits", [][]backend.Ending{{waits}}, 2, "compiling took longer than 2s, twice, without waiting for a processor: the source made it wait"},
		{"waited for the machine", [][]backend.Ending{{waits}, {fails}}, 2, "main.cpp:1:1: error: no"},
		{"waited for a processor", [][]backend.Ending{{starved}, {fails}}, 2, "main.cpp:1:1: error: no"},
	} {
		s := &scripted{ends: try.ends}
		d, _, err := gxx(t.Context(), &Box{Sandbox: s}, nil, "main.cpp", nil, backend.Limits{Clock: 2 * time.Second})
		if err != nil || d.OK || d.Text != try.text || len(s.asked) != try.asked {
			t.Errorf("%s: %+v, %v; %d queries", try.name, d, err, len(s.asked))
		}
	}
}
