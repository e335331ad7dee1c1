package eval

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// needsWhole reports whether a configuration contains something that requires every partition to be compiled.
func needsWhole(cfg *lang.Config) bool {
	ofBenchmark := func(e *lang.Export) bool { return !slices.Contains(report.Formats(), e.Kind) }
	return slices.ContainsFunc(cfg.Exports, ofBenchmark) || slices.ContainsFunc(cfg.Suites, func(s *lang.Suite) bool { return s.StopAfter > 0 })
}

// isStale reports whether a partition must be compiled, or a node belongs to no partition.
func (f *freshness) isStale() bool {
	return hasUnpartitioned(f.call.Config) || slices.ContainsFunc(f.parts, func(part partState) bool { return part.facts == nil })
}

// hasUnpartitioned reports whether a configuration has nodes that belong to no partition: those of tasks, and of problems
// that cannot be evaluated, which each run must report.
func hasUnpartitioned(cfg *lang.Config) bool {
	return len(plan.Standalone(cfg)) > 0 || slices.ContainsFunc(cfg.Problems, func(p *lang.Problem) bool { return len(p.Invalid) > 0 })
}

// freshParts yields the fresh partitions with their positions.
func (f *freshness) freshParts() iter.Seq2[int, *partState] {
	return func(yield func(int, *partState) bool) {
		for at := range f.parts {
			if f.parts[at].facts != nil && !yield(at, &f.parts[at]) {
				return
			}
		}
	}
}

// evaluate loads the whole configuration. From the index, only the parts that every call needs were read.
func (f *freshness) evaluate(ctx context.Context) (*freshness, error) {
	if f.call.Config.Problems != nil || f.call.evaluated {
		return f, nil
	}
	if cfg, ok := partition.ReadConfig(f.call.state, f.index.Config); ok {
		f.call.Config = cfg
		return f, nil
	}
	if err := f.call.load(time.Now()); err != nil {
		return nil, err
	}
	return recall(ctx, f.call, f.index), nil // partitions might have changed
}

// without returns a freshness where the fresh partitions that which selects are stale, so that they are compiled; f
// itself if there are none. It evaluates the configuration first, which can check all partitions again.
func (f *freshness) without(ctx context.Context, which func(*partState) bool) (*freshness, error) {
	picked := func(part partState) bool { return part.facts != nil && which(&part) }
	if !slices.ContainsFunc(f.parts, picked) {
		return f, nil
	}
	f, err := f.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	left := f.copied()
	for at := range left.parts {
		if picked(left.parts[at]) {
			left.parts[at].facts = nil
		}
	}
	return left, nil
}

// copied returns a copy whose partitions can be changed.
func (f *freshness) copied() *freshness {
	other := *f
	other.parts = slices.Clone(f.parts)
	return &other
}
