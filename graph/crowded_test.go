package graph

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
)

// Work that was crowded out runs once more, without other attempts next to it, which does not count as an
// attempt. If it fails again, it is broken.
func TestCrowded(t *testing.T) {
	full := fmt.Errorf("storing: %w", syscall.ENOSPC)
	for _, try := range []struct {
		name     string
		err      error
		fails    int // attempts that fail
		attempts int // that the node has
		runs     int
		state    event.State
	}{
		{"by a full disk", full, 1, 1, 2, event.Done},
		{"by a task's report", &CrowdedError{errors.New("killed")}, 1, 1, 2, event.Done},
		{"for good", full, 9, 1, 2, event.Broken},
		{"for good, with attempts", full, 9, 3, 4, event.Broken},
		{"not at all", errors.New("unplugged"), 1, 1, 1, event.Broken},
	} {
		t.Run(try.name, func(t *testing.T) {
			p, g := newProject(t), New()
			var under, runs atomic.Int32
			named := func(addr string) func(*Manifest) error {
				return func(m *Manifest) error { m.String("addr", addr); return nil }
			}
			others := func(ctx context.Context, w *Work) (Outcome, error) {
				under.Add(1)
				defer under.Add(-1)
				return out(ctx, w, w.Addr)
			}
			var crowded []ID
			for i := range 4 {
				failed, addr := 0, fmt.Sprint("crowded", i)
				crowded = append(crowded, g.Add(Node{Addr: addr, Kind: "step", Retry: Retry{Attempts: try.attempts},
					Task: &step{describe: named(addr), work: func(ctx context.Context, w *Work) (Outcome, error) {
						if n := under.Add(1); w.Isolated && n != 1 {
							t.Errorf("%d attempts next to an exclusive one", n-1)
						}
						defer under.Add(-1)
						runs.Add(1)
						if failed++; failed <= try.fails {
							return Outcome{}, try.err
						}
						return out(ctx, w, w.Addr)
					}}}))
			}
			for i := range 40 {
				addr := fmt.Sprint("other", i)
				g.Add(Node{Addr: addr, Kind: "step", Task: &step{describe: named(addr), work: others}})
			}
			o := p.options()
			o.Pools = map[string]int{CPUPool: 8}
			r := p.executeWith(t.Context(), g, o)
			for _, id := range crowded {
				if st := r.Status(id); st.State != try.state {
					t.Errorf("%s: %s", st.State, st.Message)
				}
			}
			if n := int(runs.Load()); n != 4*try.runs {
				t.Errorf("%d runs, want %d", n, 4*try.runs)
			}
		})
	}
}
