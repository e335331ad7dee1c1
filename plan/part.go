package plan

import (
	"context"
	"errors"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// Part says which cells of a configuration to compile, when what the others came
// to is known. Cells are numbered as in Plan.Cells of the whole.
type Part struct {
	Wanted func(cell int) bool
	// Outputs are those of the node of a cell that is not wanted. When it is nil,
	// neither such cells nor suites are compiled.
	Outputs func(cell int) []cache.Output
	// Lost reports whether an output that was given turned out to be gone or
	// damaged in an execution, whose other results then are void.
	Lost bool
}

// CompilePart is Compile for some cells and the suites that they are in. The
// nodes have the addresses and dependencies that they have in the whole.
func CompilePart(cfg *lang.Config, jobs int, env Environment, part *Part) (*Plan, error) {
	return compile(cfg, jobs, env, part)
}

// CellsAbout are the numbers of some cells that need the node with an address, if
// there is such a node and it is none of a suite; there may be more such cells.
func CellsAbout(cfg *lang.Config, addr string) map[int]bool {
	_, rest, _ := strings.Cut(addr, ":")
	own, shared := map[int]bool{}, map[int]bool{}
	numbers := map[lang.Cell]int{}
	var in *lang.Problem // the last cell's
	about := false
	on := map[*lang.Backend]bool{} // of what is shared
	for _, suite := range cfg.Suites {
		for lc := range cellsOf(suite) {
			n, known := numbers[lc]
			if !known {
				n = len(numbers)
				numbers[lc] = n
			}
			if problem := lc.Solution.Problem; problem != in {
				in = problem
				of, ok := strings.CutPrefix(rest, problem.Name)
				about = ok && (of == "" || of[0] == '/' || of[0] == '@')
				clear(on)
			}
			switch {
			case !about:
			case strings.Contains(rest, solutionOn(lc)):
				own[n] = true
			case strings.Contains(rest, lc.Solution.Name), !on[lc.Backend]:
				shared[n] = true
				on[lc.Backend] = true
			}
		}
	}
	if len(own) > 0 {
		return own
	}
	return shared
}

// CellOutputs are the outputs of the node of each cell, after an execution of the
// whole that brought them up to date.
func (p *Plan) CellOutputs(r *graph.Report) [][]cache.Output {
	all := make([][]cache.Output, len(p.Cells))
	for i, cell := range p.Cells {
		all[i] = r.Status(cell.Node).Outputs
	}
	return all
}

// known are the cells of a part that are not compiled, by their place in the
// whole.
type known struct {
	part   *Part
	number map[lang.Cell]int
}

// wants numbers a cell the first time, and reports whether it is to be compiled.
func (k *known) wants(lc lang.Cell) bool {
	n, ok := k.number[lc]
	if !ok {
		n = len(k.number)
		k.number[lc] = n
	}
	return k.part == nil || k.part.Wanted(n)
}

// alone reports whether cells are compiled without their suites.
func (k *known) alone() bool { return k.part != nil && k.part.Outputs == nil }

// knownCell adds the node of a cell that is not wanted, or finds it.
func (c *compiler) knownCell(lc lang.Cell) (name string, id graph.ID) {
	outputs := c.known.part.Outputs(c.known.number[lc])
	if outputs == nil {
		outputs = []cache.Output{}
	}
	name = solutionOn(lc)
	return name, c.once(graph.Node{Addr: address(KindAggregate, lc.Solution.Problem.Name, name), Kind: KindAggregate,
		Task: lostCell{c.known.part}, Pool: inProcessPool, Pinned: outputs})
}

// lostCell is the task of a cell that is not compiled: nothing can make its
// outputs anew but the whole.
type lostCell struct{ part *Part }

func (lostCell) Describe(context.Context, *graph.Manifest) error { return nil }

func (l lostCell) Run(context.Context, *graph.Work) (graph.Outcome, error) {
	l.part.Lost = true
	return graph.Outcome{}, errors.New("the result of the cell is no longer in the store")
}

// Sources returns the nodes that read source files for each cell: their places
// in Cells by address.
func (p *Plan) Sources(isSource func(addr string) bool) map[string][]int32 {
	reached := make([]int32, p.Graph.Len()) // by the cell that came last, from 1
	of := map[string][]int32{}
	var visit func(id graph.ID, cell int32)
	visit = func(id graph.ID, cell int32) {
		if reached[id] == cell+1 {
			return
		}
		reached[id] = cell + 1
		n := p.Graph.Node(id)
		if isSource(n.Addr) {
			of[n.Addr] = append(of[n.Addr], cell)
		}
		for _, d := range n.Deps {
			visit(d.On, cell)
		}
	}
	for i, cell := range p.Cells {
		visit(cell.Node, int32(i))
	}
	return of
}

// sourcesOf is what the task of a node that reads source files needs.
func (c *compiler) sourcesOf(addr string) tasks.Sources {
	s := tasks.Sources{States: c.env.States, Store: c.env.Store, Observe: c.env.Observe}
	if c.env.StatesOf != nil {
		s.States = c.env.StatesOf(addr)
	}
	return s
}
