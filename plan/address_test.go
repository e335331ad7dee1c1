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
		if got := NodeCell(p.plan.Graph.Node(cell.Node)); got != id {
			t.Errorf("its node has %+v of %+v", got, id)
		}
		for _, cc := range cell.Checkpoints {
			if got, want := NodeCell(p.plan.Graph.Node(cc.Aggregate)), id.At(cc.Checkpoint.Name); got != want || got.Cell() != id {
				t.Errorf("a checkpoint's node has %+v, want %+v", got, want)
			}
		}
		if got := ResultCell(&report.Cell{Problem: id.Problem, Solution: id.Solution, Backend: id.Backend, Repeat: id.Repeat}); got != id {
			t.Errorf("its result has %+v of %+v", got, id)
		}
		if got, want := p.plan.Graph.Node(cell.Node).Addr, address(KindAggregate, id.Problem, id.name()); got != want {
			t.Errorf("its node is %s, want %s", got, want)
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
