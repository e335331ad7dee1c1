package plan

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// A cell has the same name in the graph, in its nodes and in its results.
func TestCellID(t *testing.T) {
	p := newProject(t, problem)
	for _, cell := range p.plan.Cells {
		id := cell.ID()
		for _, cc := range cell.Checkpoints {
			n := p.plan.Graph.Node(cc.Aggregate)
			if got, want := NodeCell(n), id.At(cc.Checkpoint.Name); got != want || got.Cell() != id {
				t.Errorf("a checkpoint's node has %+v, want %+v", got, want)
			}
			if got := CellName(n.Addr); got != id.String() {
				t.Errorf("%s is of the cell %q, want %q", n.Addr, got, id)
			}
		}
		if got := ResultCell(&report.Cell{Problem: id.Problem, Solution: id.Solution, Backend: id.Backend, Repeat: id.Repeat}); got != id {
			t.Errorf("its result has %+v of %+v", got, id)
		}
	}
	shared := &graph.Node{Addr: "tests:kv/one", Labels: []graph.Label{{Name: "problem", Value: "kv"}, {Name: "checkpoint", Value: "one"}}}
	if got := NodeCell(shared); got != (CellID{Problem: "kv", Checkpoint: "one"}) {
		t.Errorf("a shared node has %+v", got)
	}
	for id, want := range map[CellID]string{
		{Solution: "s", Backend: "local.host", Repeat: 1}: "s@local.host",
		{Solution: "s", Backend: "local.host", Repeat: 2}: "s@local.host#2",
	} {
		if got := id.name(); got != want {
			t.Errorf("%+v is called %s, want %s", id, got, want)
		}
	}
}

func TestCellName(t *testing.T) {
	for addr, want := range map[string]string{
		"pytest:kv/one/agent@local.host":         "kv/agent@local.host",
		"aggregate:kv/one/agent@local.host#2":    "kv/agent@local.host#2",
		`parse:kv/one/agent["a/b@c"]@local.host`: `kv/agent["a/b@c"]@local.host`,
		"run:a%2Fb/7/greedy@gojudge.box":         "a%2Fb/greedy@gojudge.box",
		"score:sum/greedy@gojudge.box":           "sum/greedy@gojudge.box",
		"aggregate:bad/agent@local.one":          "bad/agent@local.one",
		"checker:sum@gojudge.box":                "",
		"submission:kv/one/agent":                "",
		`submission:kv/one/agent["a@b"]`:         "",
		"tests:kv/one":                           "",
		"image:docker.box":                       "",
		"submission:kv/a@b/agent":                "",
		"":                                       "",
	} {
		if got := CellName(addr); got != want {
			t.Errorf("%s is of the cell %q, want %q", addr, got, want)
		}
	}
}
