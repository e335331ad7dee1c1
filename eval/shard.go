package eval

import (
	"fmt"
	"github.com/fevalgraph/fevalgraph/lang"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// shard keeps the targets of one part of the cells; whatever belongs to no
// cell comes along as a dependency. An invalid problem that no cell needs is
// in every part: it must not fall between them.
func (p *Project) shard(targets []graph.ID, text string) ([]graph.ID, error) {
	index, count, err := parseShard(text)
	if err != nil {
		return nil, fail(Usage, err)
	}
	mine, needed := map[plan.CellID]bool{}, map[string]bool{}
	plan.EachCell(p.Config, func(c lang.Cell) {
		needed[c.Solution.Problem.Name] = true
		if plan.InShard(c, index, count) {
			mine[plan.IDOf(c)] = true
		}
	})
	var kept []graph.ID
	for _, id := range targets {
		n := p.Plan.Graph.Node(id)
		alone := n.Kind == plan.KindProblem && !needed[n.Label("problem")]
		if alone || mine[plan.NodeCell(n).Cell()] {
			kept = append(kept, id)
		}
	}
	return kept, nil
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
