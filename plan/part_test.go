package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/graph"
)

// partsForAll compiles the part about each node.
func (p *project) partsForAll() {
	t := p.t
	t.Helper()
	deps := func(g *graph.Graph, id graph.ID) (all []string) {
		for _, d := range g.Node(id).Deps {
			all = append(all, d.As+" "+g.Node(d.On).Addr)
		}
		return all
	}
	for id := range graph.ID(p.plan.Graph.Len()) {
		addr := p.plan.Graph.Node(id).Addr
		cells := CellsAbout(p.plan.Config, addr)
		part, err := CompilePart(p.plan.Config, 2, p.environment(), &Part{Wanted: func(cell int) bool { return cells[cell] }})
		if err != nil {
			t.Fatal(err)
		}
		in, ok := part.Graph.Lookup(addr)
		if suite := strings.Contains(addr, ":suite."); ok == suite {
			t.Errorf("%s is compiled: %v, with cells %v", addr, ok, cells)
		}
		if !ok {
			continue
		}
		if diff := cmp.Diff(deps(p.plan.Graph, id), deps(part.Graph, in)); diff != "" {
			t.Errorf("%s depends on something else: %s", addr, diff)
		}
		if len(part.Cells) == len(p.plan.Cells) {
			t.Errorf("%s: %d cells of %d are compiled", addr, len(part.Cells), len(p.plan.Cells))
		}
	}
}

// So it is with the nodes of problems that are judged otherwise.
func TestCellsAboutOtherProblems(t *testing.T) {
	p := newJudgeProject(t, judgeProblem+judgeSolutions("double.cpp", "near.cpp", "loop.py")+`
backend "gojudge" "other" {}
suite "all" {
  repeat = 2
}
`)
	p.partsForAll()
	for _, example := range []string{"judge", "research"} {
		t.Run(example, func(t *testing.T) {
			p := newProject(t, problem)
			p.dir = "../examples/" + example
			p.t = t
			p.compile()
			p.partsForAll()
		})
	}
}

// Every node but a suite's is in the part that is compiled for its address, with
// the same dependencies.
func TestCellsAbout(t *testing.T) {
	p := newProject(t, problem+`
problem "kv2" {
  entry = "python kv.py"
  pytest {
    root  = "tests"
    split = "file"
  }
  checkpoint "a" {}
}

solution "good2" {
  problem = problem.kv2
  source  = "good/a"
}

backend "local" "two" {}

suite "first" {
  repeat = 2
}

suite "second" {
  matrix { solution = [solution.half] }
  repeat = 11
}
`)
	p.partsForAll()
	if cells := CellsAbout(p.plan.Config, "pytest:none/a/good@local.one"); len(cells) != 0 {
		t.Errorf("nobody's node is of %v", cells)
	}
}
