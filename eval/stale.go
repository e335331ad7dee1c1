package eval

import (
	"bytes"
	"context"
	"fmt"
	"iter"
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
	i := p.known.index
	return i == nil || i.Tasks || i.Suites.Sum == nil || slices.ContainsFunc(p.parts, func(part partState) bool { return part.facts == nil }) ||
		p.evaluated && (len(plan.Standalone(p.Config)) > 0 || !bytes.Equal(i.Suites.Sum, p.suitesSum()))
}

// fresh returns the partitions that are fresh, with their positions.
func (p *Project) fresh() iter.Seq2[int, *partState] {
	return func(yield func(int, *partState) bool) {
		for at := range p.parts {
			if p.parts[at].facts != nil && !yield(at, &p.parts[at]) {
				return
			}
		}
	}
}

// closed returns the fresh partitions of which the graph has at most the nodes of their cells.
func (p *Project) closed() iter.Seq2[int, *partState] {
	if p.expanded {
		return func(func(int, *partState) bool) {}
	}
	return p.fresh()
}

// nodes returns the targets with all that they need, but for the nodes of closed partitions.
func (p *Project) nodes(g goals) []graph.ID {
	ids := p.Plan.Graph.Closure(g.targets)
	if p.expanded {
		return ids
	}
	return slices.DeleteFunc(ids, func(id graph.ID) bool { return p.Plan.Graph.Node(id).Pinned != nil })
}

// suitesSum sums the suites of an evaluated configuration, and their cells in order.
func (p *Project) suitesSum() []byte {
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

// compile compiles the partitions that are not fresh. The others stay closed, or are opened.
func (p *Project) compile(ctx context.Context, open bool) error {
	if err := p.evaluate(ctx); err != nil {
		return err
	}
	env := p.environment()
	env.Rows = func(part *plan.Partition) []graph.Row {
		at, ok := p.find(part.Problem, part.First)
		if !ok || p.parts[at].facts == nil {
			return nil
		}
		if !open {
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
	p.expanded, p.suites = open, partition.Suites{}
	p.recallNodes()
	return nil
}

// compileNothing takes every partition and the suites as they are.
func (p *Project) compileNothing() {
	p.Plan, p.suites = &plan.Plan{Config: p.Config, Graph: graph.New(), Pools: map[string]int{graph.CPUPool: p.options.RunJobs()}}, p.known.index.Suites
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
	return true, p.compile(ctx, p.expanded)
}
