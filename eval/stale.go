package eval

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// needsWhole reports whether a configuration has something that takes every partition
// compiled.
func needsWhole(cfg *lang.Config) bool {
	ofBenchmark := func(e *lang.Export) bool { return !slices.Contains(report.Formats(), e.Kind) }
	return slices.ContainsFunc(cfg.Exports, ofBenchmark) || slices.ContainsFunc(cfg.Suites, func(s *lang.Suite) bool { return s.StopAfter > 0 })
}

// stale reports whether some partition has to be compiled, there are tasks that no partition
// has, or the suites are others.
func (p *Project) stale() bool {
	if p.evaluated && len(plan.Standalone(p.Config)) > 0 || p.known.index != nil && p.known.index.Tasks {
		return true
	}
	return slices.ContainsFunc(p.parts, func(part partState) bool { return part.facts == nil }) ||
		p.known.index == nil || p.known.index.Suites == nil || p.evaluated && !bytes.Equal(p.known.index.Suites, p.suites())
}

// suites encodes the suites of an evaluated configuration, and their cells in order.
func (p *Project) suites() []byte {
	var all bytes.Buffer
	for _, s := range p.Config.Suites {
		fmt.Fprintf(&all, "%q %d/%d\n", s.Name, s.ShardIndex, s.ShardCount)
		for _, c := range s.Cells {
			fmt.Fprintf(&all, "%+q\n", fmt.Sprint(plan.IDOf(c)))
		}
	}
	return partition.Salted(p.salt, all.Bytes())
}

// evaluate makes sure that the configuration is whole. Of one that was taken from the
// index, only what every call needs has been read.
func (p *Project) evaluate(ctx context.Context) error {
	if p.Config.Problems != nil || p.evaluated {
		return nil
	}
	if cfg, ok := partition.ReadConfig(p.state, p.known.index.Config); ok {
		p.Config = cfg
		return nil
	}
	began := time.Now()
	cfg, warnings, err := p.options.LoadWarned()
	if err != nil {
		return err
	}
	p.Config, p.evaluated, p.warnings, p.inputs = cfg, true, warnings, partition.InputSightings(cfg.Inputs, began)
	p.recall(ctx, p.known.index) // its partitions may be others by now
	return nil
}

// depth says how much of a fresh partition a graph gets.
type depth int

const (
	summits depth = iota // the nodes of its cells, which suites need
	rows                 // every node, pinned to its answer
)

// compileStale compiles the partitions that are not fresh, and adds the others as deep as
// is wanted.
func (p *Project) compileStale(ctx context.Context, d depth) error {
	if err := p.evaluate(ctx); err != nil {
		return err
	}
	env := p.environment()
	env.Rows = func(part *plan.Partition) []graph.Row {
		at, ok := p.find(part.Problem, part.First)
		if !ok || p.parts[at].facts == nil {
			return nil
		}
		if d == summits {
			return p.parts[at].facts.Cells
		}
		known, err := p.partitions().Rows(p.parts[at].File)
		if err != nil {
			p.parts[at].facts = nil // it is decided about instead
			return nil
		}
		return known
	}
	var err error
	if p.Plan, err = plan.Compile(p.Config, p.options.RunJobs(), env); err != nil {
		return exit.With(exit.Usage, err)
	}
	p.depth = d
	p.recallNodes()
	return nil
}

// recallNodes reads what earlier runs left of the nodes that the engine decides about.
func (p *Project) recallNodes() {
	decided, fresh := map[string]bool{}, map[partition.Name]bool{}
	for _, part := range p.parts {
		decided[part.Problem] = decided[part.Problem] || part.facts == nil
		fresh[part.File] = part.facts != nil
	}
	p.last = partition.ReadLast(p.state, p.place).ByAddress(p.partitions(), func(f partition.LastFile) bool { return decided[f.Problem] && !fresh[f.File] })
}

// drop gives up that some partitions are fresh, so that they are compiled. It evaluates the
// configuration first: that may check all partitions again.
func (p *Project) drop(ctx context.Context, which func(*partState) bool) (any bool, err error) {
	picked := func(part partState) bool { return part.facts != nil && which(&part) }
	if !slices.ContainsFunc(p.parts, picked) {
		return false, nil
	}
	if err := p.evaluate(ctx); err != nil {
		return false, err
	}
	for at := range p.parts {
		if picked(p.parts[at]) {
			p.parts[at].facts = nil
		}
	}
	return true, nil
}

// reopen drops partitions and compiles them.
func (p *Project) reopen(ctx context.Context, which func(*partState) bool) (any bool, err error) {
	if any, err = p.drop(ctx, which); err != nil || !any {
		return any, err
	}
	return true, p.compileStale(ctx, p.depth)
}
