package judge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// A program needs its processor time, but its wall time can be long just because the machine is busy. So
// the wall-clock limit stops programs that wait, but must not blame a program that was delayed.

const (
	// asleep is the share of the time below which a program has hardly run. A program that needs a processor
	// gets a larger share even among dozens of others.
	asleep = 0.01
	// longer is the factor by which the time is extended if reaching the limit proves nothing.
	longer = 8
	// moreOf is the minimum factor by which the processor time of a program then grows unless it waits
	// forever, and leastMore is the minimum significant growth.
	moreOf    = 2
	leastMore = 20 * time.Millisecond
)

// patient runs a solution with patience.
func (b *Box) patient(ctx context.Context, solution backend.Program) ([]backend.Ending, error) {
	ends, err := b.run(ctx, solution)
	if err != nil {
		return nil, err
	}
	return b.patience(ctx, ends, solution)
}

// patience returns the ends of programs; the first program is the solution. If that reached its
// wall-clock limit on a contended machine, all of them run again with more time. If the machine was too
// busy even then, it returns a graph.CrowdedError: a program that is active at intervals looks the same, and
// is recognized without other work.
func (b *Box) patience(ctx context.Context, ends []backend.Ending, programs ...backend.Program) ([]backend.Ending, error) {
	if !doubtful(ends) {
		return ends, nil
	}
	limit := programs[0].Limits.Clock
	again := slices.Clone(programs)
	for i := range again {
		again[i].Limits.Clock *= longer
	}
	more, err := b.run(ctx, again...)
	if err != nil {
		return nil, err
	}
	if more[0].Status != backend.ClockLimit {
		return more, nil
	}
	before, after := cpuOf(ends), cpuOf(more)
	if !more[0].Contended || after < moreOf*before || after-before < leastMore {
		return ends, nil // it waits forever, and did so the first time
	}
	return nil, &graph.CrowdedError{Err: fmt.Errorf("it got %v of processor time in %v: the machine is too busy for a limit of %v from start to end",
		more[0].CPU.Round(time.Millisecond), more[0].Clock.Round(time.Millisecond), limit)}
}

// doubtful reports whether a solution might have reached its limit because of other work. With an
// interactor, low processor time proves nothing, since each program must get a processor for the other to
// continue.
func doubtful(ends []backend.Ending) bool {
	e := ends[0]
	switch {
	case e.Status != backend.ClockLimit || !e.Contended:
		return false
	case len(ends) == 1:
		return !sleeps(e)
	}
	return true
}

// sleeps reports whether a program had a processor for so little of its time that it did not need one.
func sleeps(e backend.Ending) bool { return float64(e.CPU) < asleep*float64(e.Clock) }

// cpuOf returns the processor time that programs got while the solution ran, at least: an interactor that loops at the
// end of its input does so after the solution's end.
func cpuOf(ends []backend.Ending) time.Duration {
	var all time.Duration
	for _, e := range ends {
		all += max(0, e.CPU-max(0, e.Clock-ends[0].Clock))
	}
	return all
}
