package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// retryable are the statuses that --retry knows: those of cells without a
// verdict that another attempt may have.
var retryable = []verdict.Status{verdict.Broken, verdict.TimedOut, verdict.Error}

// retried returns a predicate over the nodes that are asked again because of
// the last result of a checkpoint; nil when no status is given. Of what broke
// the nodes that did are asked again, and of the others all that ran something
// on a backend.
func (p *Project) retried(ctx context.Context, statuses []string) (func(*graph.Node) bool, error) {
	if len(statuses) == 0 {
		return nil, nil
	}
	x, err := p.decideAll(ctx)
	if err != nil {
		return nil, err
	}
	all, err := x.compiledCheckpoints(ctx)
	if err != nil {
		return nil, err
	}
	asked := map[plan.CellID]bool{}
	for _, one := range all {
		asked[one.Cell] = one.Last != nil && one.Last.Class.Status() != verdict.Broken && slices.Contains(statuses, string(one.Last.Class.Status()))
	}
	again := map[string]bool{}
	for _, cell := range p.Plan.Cells {
		for i := range cell.Checkpoints {
			cc := &cell.Checkpoints[i]
			for _, node := range p.Plan.GradingNodes(cell, cc) {
				addr := p.Plan.Graph.Node(node).Addr
				again[addr] = again[addr] || asked[cell.ID().At(cc.Checkpoint.Name)] ||
					slices.Contains(statuses, string(verdict.Broken)) && p.brokeAt(addr, x.rep.Status(node).Key)
			}
		}
	}
	return func(n *graph.Node) bool { return again[n.Addr] }, nil
}

// brokeAt reports whether the last attempt of a node broke on the inputs of a key: also a forced
// one, where an answer holds. One on other inputs does not count.
func (p *Project) brokeAt(addr string, key cache.Key) bool {
	last := p.Last(addr)
	return last.Broken != "" && !key.IsZero() && last.BrokenKey == key
}

// checkRetry refuses statuses that --retry does not know.
func checkRetry(statuses []string) error {
	for _, s := range statuses {
		if !slices.Contains(retryable, verdict.Status(s)) {
			return exit.With(exit.Usage, fmt.Errorf("--retry %s: want some of %s, with commas between them", s, statusNames(retryable)))
		}
	}
	return nil
}

func statusNames(statuses []verdict.Status) string {
	names := make([]string, len(statuses))
	for i, s := range statuses {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// either is the disjunction of predicates, any of which may be nil.
func either(a, b func(*graph.Node) bool) func(*graph.Node) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(n *graph.Node) bool { return a(n) || b(n) }
}
