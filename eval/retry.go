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

// retryable lists the statuses that --retry accepts: cells without a verdict, which another attempt may
// produce.
var retryable = []verdict.Status{verdict.Broken, verdict.TimedOut, verdict.Error}

// retryMatcher returns a predicate over nodes to execute again because of the last result of a checkpoint; nil
// without statuses. For broken checkpoints, these are the nodes that broke; for others, all nodes that ran on a
// backend.
func (p *Project) retryMatcher(ctx context.Context, statuses []string) (func(*graph.Node) bool, error) {
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
		if one.Last == nil {
			continue
		}
		status := one.Last.ShownClass().Status()
		asked[one.Cell] = status != verdict.Broken && slices.Contains(statuses, string(status))
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

// brokeAt reports whether the last attempt of a node broke with this key, including a forced attempt while an
// answer exists. Attempts with other keys do not count.
func (p *Project) brokeAt(addr string, key cache.Key) bool {
	last := p.Last(addr)
	return last.Broken != "" && !key.IsZero() && last.BrokenKey == key
}

// checkRetry returns an error for statuses that --retry does not accept.
func checkRetry(statuses []string) error {
	for _, s := range statuses {
		if !slices.Contains(retryable, verdict.Status(s)) {
			return exit.With(exit.Usage, fmt.Errorf("--retry %s: want a comma-separated list of %s", s, statusNames(retryable)))
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

// anyOf returns the disjunction of two predicates. Each can be nil.
func anyOf(a, b func(*graph.Node) bool) func(*graph.Node) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(n *graph.Node) bool { return a(n) || b(n) }
}
