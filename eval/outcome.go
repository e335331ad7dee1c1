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

// Outcome is how a run ended.
type Outcome struct {
	Exit    exit.Class
	Run     string           // id, of its record
	Cells   int              // of the configuration, whatever was asked for
	Rows    []report.CellRow // of the cells that were asked for; nil when their results could not be read
	Tasks   []report.Task    // that were asked for, or needed
	End     event.RunEnd     // counts, as in the record
	results *collected       // nil when they could not be read
	// Boards are the result blocks over Results; BoardsErr says why there are none.
	Boards    []plan.Leaderboard
	BoardsErr error
	Troubles  []Ended // nodes that failed, broke or were skipped, in topological order
	Slowest   []Ended // the nodes whose work took longest, longest first
	Bound     graph.Bound
	Executed  map[[2]string]bool // problems and solutions for which the run executed work
}

// Ended is how the work of a node ended.
type Ended struct {
	Addr    string
	State   event.State
	Message string
	Seconds float64
}

// slowest is how many nodes an Outcome names as such.
const slowest = 5

// Results reads the results of what was asked for. They are nil when they could not be
// collected.
func (o *Outcome) Results() (*report.Results, error) {
	if o.results == nil {
		return nil, nil
	}
	return o.results.results()
}

// outcome makes the outcome of an execution that ended with err.
func (x *execution) outcome(ctx context.Context, results *collected, err error) *Outcome {
	rep := x.rep
	out := &Outcome{Run: x.run, results: results, Cells: x.cells(), Bound: x.Plan.Graph.Bound(rep, x.Plan.Pools)}
	if results != nil {
		out.Rows, out.Tasks = results.rows(), results.tasks
		out.Boards, out.BoardsErr = results.boards()
	}
	judged := map[plan.CellID]bool{}
	out.Executed = map[[2]string]bool{}
	for _, id := range rep.Nodes {
		n, st := x.Plan.Graph.Node(id), rep.Status(id)
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
			out.Slowest = slices.Insert(out.Slowest, at, e) // behind those that took as long
			out.Slowest = out.Slowest[:min(slowest, len(out.Slowest))]
		}
	}
	c := x.count()
	out.Exit = exitOf(ctx, x.request, rep, out, err)
	if out.Exit == exit.NoMatch && x.onlyShared() {
		out.Exit = exit.Passed
	}
	if rep.Failed > rep.InputErrors && (out.Exit == exit.Passed || out.Exit == exit.NoMatch) {
		out.Exit = exit.Failed
	}
	out.End = rep.End(x.run)
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
	out.End.SavedBytes, out.End.SavedSeconds = rep.Saved()
	out.End.SavedBytes, out.End.SavedSeconds = out.End.SavedBytes+c.bytes, out.End.SavedSeconds+c.seconds
	return out
}

// onlyShared reports whether nodes were asked for that grade no solution, such as an image
// or a task. No verdict is expected of them.
func (g *goals) onlyShared() bool {
	return len(g.targets) > 0 && !slices.ContainsFunc(g.targets, func(id graph.ID) bool {
		n := g.Plan.Graph.Node(id)
		switch n.Kind {
		case plan.KindTask, plan.KindFigures:
			return false
		case plan.KindAggregate: // a project of tasks alone has an empty suite
			return n.Label("problem") != "" || len(g.Config.Tasks) == 0
		}
		return n.Label("solution") != ""
	})
}

// boards are the result blocks over the results.
func (c *collected) boards() ([]plan.Leaderboard, error) {
	if len(c.of.Config.Results) == 0 {
		return nil, nil
	}
	whole, err := c.results()
	if err != nil {
		return nil, err
	}
	return c.of.Plan.Leaderboards(whole)
}

// exitOf applies the rules of the exit codes; what kept the run from judging
// outweighs what was judged.
func exitOf(ctx context.Context, r Request, rep *graph.Report, out *Outcome, err error) exit.Class {
	if class := exit.OfExecution(ctx, rep, err); class != exit.Passed {
		return class
	}
	switch {
	case out.results != nil && len(out.Rows) == 0 && r.Shard == "" && r.Cells == "": // a shard may be empty
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

// worsen notes an error that came after judging.
func (o *Outcome) worsen(err error) {
	if err != nil && (o.Exit == exit.Passed || o.Exit == exit.Failed) {
		o.Exit = exit.NotJudged
		o.End.Exit = int(exit.NotJudged)
	}
}
