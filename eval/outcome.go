package eval

import (
	"cmp"
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Outcome is the result of a run.
type Outcome struct {
	Exit    exit.Class
	Run     string           // id of its record
	Cells   int              // number of cells in the configuration
	Rows    []report.CellRow // requested cells; nil if their results could not be read
	Tasks   []report.Task    // requested tasks and their dependencies
	End     event.RunEnd     // counts, as recorded
	results *collected       // nil if results could not be read
	// Boards are the result blocks over Results. BoardsErr is set if they could not be computed.
	Boards    []plan.Leaderboard
	BoardsErr error
	Troubles  []Ended // nodes that failed, broke or were skipped, in topological order
	Slowest   []Ended // the nodes whose work took longest, longest first
	Bound     graph.Bound
	Executed  map[[2]string]bool // problems and solutions for which the run executed work
}

// Ended is the result of a node.
type Ended struct {
	Addr    string
	State   event.State
	Message string
	Seconds float64
}

// slowest limits Outcome.Slowest.
const slowest = 5

// Results reads the requested results, or returns nil if they could not be collected.
func (o *Outcome) Results() (*report.Results, error) {
	if o.results == nil {
		return nil, nil
	}
	return o.results.results()
}

// outcome returns the outcome of an execution that ended with err.
func (x *execution) outcome(ctx context.Context, results *collected, err error) *Outcome {
	rep := x.rep
	out := &Outcome{Run: x.call.run, results: results, Cells: x.project.cells(), Bound: x.project.Plan.Graph.Bound(rep, x.project.Plan.Pools)}
	if results != nil {
		out.Rows, out.Tasks = results.rows(), results.tasks
		out.Boards, out.BoardsErr = results.boards()
	}
	judged := map[plan.CellID]bool{}
	out.Executed = map[[2]string]bool{}
	for _, id := range rep.Nodes {
		n, st := x.project.Plan.Graph.Node(id), rep.Status(id)
		if cell := plan.NodeCell(n); cell.Repeat > 0 && n.Kind != plan.KindAggregate && (st.State == event.Done || st.State == event.Timeout) {
			judged[cell], out.Executed[[2]string{cell.Problem, cell.Solution}] = true, true
		}
		e := Ended{n.Addr, st.State, st.Message, st.Seconds}
		switch st.State {
		case event.Broken, event.Failed, event.Skipped:
			out.Troubles = append(out.Troubles, e)
		}
		if st.State != event.Cached && st.Seconds > 0 {
			at, _ := slices.BinarySearchFunc(out.Slowest, e, func(a, b Ended) int { return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), -1) })
			out.Slowest = slices.Insert(out.Slowest, at, e) // equal durations keep their order
			out.Slowest = out.Slowest[:min(slowest, len(out.Slowest))]
		}
	}
	c := x.goals.count()
	out.Exit = exitOf(ctx, x.goals.request, rep, out, err)
	if out.Exit == exit.NoMatch && x.goals.onlyShared() {
		out.Exit = exit.Passed
	}
	if rep.Failed > rep.InputErrors && (out.Exit == exit.Passed || out.Exit == exit.NoMatch) {
		out.Exit = exit.Failed
	}
	out.End = rep.End(x.call.run)
	out.End.Nodes, out.End.Cached, out.End.Exit = c.nodes, rep.Cached+c.nodes-len(rep.Nodes), int(out.Exit)
	out.End.Judged = len(judged)
	if len(out.Rows)+len(out.Tasks) > 0 {
		var all report.Tally
		for i := range out.Rows {
			all.Merge(&out.Rows[i].Tally)
		}
		all.AddTasks(out.Tasks)
		out.End.Verdicts = all.Summary().String()
	}
	return out
}

// onlyShared reports whether all requested nodes grade no solution, such as images and tasks. No verdict is
// expected then.
func (g *goals) onlyShared() bool {
	return len(g.targets) > 0 && !slices.ContainsFunc(g.targets, func(id graph.ID) bool {
		n := g.project.Plan.Graph.Node(id)
		switch n.Kind {
		case plan.KindTask, plan.KindFigures:
			return false
		}
		return n.Label("solution") != ""
	})
}

// boards evaluates the result blocks over the results.
func (c *collected) boards() ([]plan.Leaderboard, error) {
	if len(c.of.call.Config.Results) == 0 {
		return nil, nil
	}
	whole, err := c.results()
	if err != nil {
		return nil, err
	}
	return c.of.project.Plan.Leaderboards(whole)
}

// exitOf returns the exit class: errors that prevent judging take precedence over verdicts.
func exitOf(ctx context.Context, r Request, rep *graph.Report, out *Outcome, err error) exit.Class {
	if class := exit.OfExecution(ctx, rep, err); class != exit.Passed {
		return class
	}
	switch {
	case out.results != nil && len(out.Rows) == 0 && r.Shard == "" && r.Cells == "": // a shard can be empty
		return exit.NoMatch
	case r.Policy == nil:
		var all report.Tally
		for i := range out.Rows {
			all.Merge(&out.Rows[i].Tally)
		}
		return exit.Class(all.Summary().Exit)
	}
	whole, err := out.Results()
	if err != nil {
		return exit.NotJudged
	}
	return exit.Class(report.Summarize(whole, r.Policy).Exit)
}

// worsen applies the exit class of an error after judging.
func (o *Outcome) worsen(err error) {
	if err != nil && (o.Exit == exit.Passed || o.Exit == exit.Failed) {
		o.Exit = exit.NotJudged
		o.End.Exit = int(exit.NotJudged)
	}
}
