package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// shard keeps the targets of one part of the cells; whatever belongs to no
// cell comes along as a dependency. An invalid problem that no cell needs is
// in every part: it must not fall between them.
func (p *project) shard(e *evaluation, text string) error {
	index, count, err := parseShard(text)
	if err != nil {
		return exit(exitUsage, err)
	}
	mine, needed := map[string]bool{}, map[string]bool{}
	for _, c := range p.plan.Cells {
		needed[c.Problem.Name] = true
		if c.InShard(index, count) {
			mine[verdictKey(c.Problem.Name, c.Solution.Name, c.Backend.Addr(), strconv.Itoa(c.Repeat))] = true
		}
	}
	var kept []graph.ID
	for _, id := range e.targets {
		n := p.plan.Graph.Node(id)
		alone := n.Kind == plan.KindProblem && !needed[n.Label("problem")]
		if alone || mine[verdictKey(n.Label("problem"), n.Label("solution"), n.Label("backend"), n.Label("repeat"))] {
			kept = append(kept, id)
		}
	}
	e.targets = kept
	return nil
}

func parseShard(text string) (index, count int, err error) {
	i, n, found := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !found || err1 != nil || err2 != nil || count < 1 || index < 1 || index > count {
		return 0, 0, fmt.Errorf("--shard %s: want I/N with 1 <= I <= N, such as 1/4", text)
	}
	return index, count, nil
}
