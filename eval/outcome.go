package eval

import (
	"cmp"
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Outcome is how a run ended.
type Outcome struct {
	Exit    Exit
	Run     string          // id, of its record
	Config  *lang.Config    // as it was evaluated
	Cells   int             // of the configuration, whatever was asked for
	Results *report.Results // of what was asked for; nil when they could not be read
	End     event.RunEnd    // counts, as in the record
	// Boards are the result blocks over Results; BoardsErr says why there are none.
	Boards    []plan.Leaderboard
	BoardsErr error
	Troubles  []Ended // nodes that failed, broke or were skipped, in topological order
	Slowest   []Ended // the nodes whose work took longest, longest first
	Bound     graph.Bound
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

// collect makes the outcome of an execution that ended with err.
func (p *Project) collect(ctx context.Context, r Request, rep *graph.Report, results *report.Results, err error) *Outcome {
	out := &Outcome{Exit: exitOf(ctx, r, rep, results, err), Run: p.run, Config: p.Config, Cells: len(p.Plan.Cells), Results: results, Bound: p.Plan.Graph.Bound(rep, p.Plan.Pools)}
	if results != nil {
		out.Boards, out.BoardsErr = p.Plan.Leaderboards(results)
	}
	for _, id := range rep.Nodes {
		st := rep.Status(id)
		e := Ended{p.Plan.Graph.Node(id).Addr, st.State, st.Message, st.Seconds}
		switch st.State {
		case event.Broken, event.Failed, event.Skipped:
			out.Troubles = append(out.Troubles, e)
		}
		if st.State != event.Cached && st.Seconds > 0 {
			out.Slowest = append(out.Slowest, e)
		}
	}
	slices.SortStableFunc(out.Slowest, func(a, b Ended) int { return cmp.Compare(b.Seconds, a.Seconds) })
	out.Slowest = slices.Clone(out.Slowest[:min(slowest, len(out.Slowest))])
	out.End = event.RunEnd{Type: "run.end", Run: p.run, Nodes: len(rep.Nodes), Executed: rep.Executed, Cached: rep.Cached, Failed: rep.Failed,
		Broken: rep.Broken, Blocked: rep.Blocked, Skipped: rep.Skipped, Interrupted: rep.Interrupted, Seconds: rep.Seconds, Exit: int(out.Exit)}
	out.End.SavedBytes, out.End.SavedSeconds = rep.Saved()
	return out
}

// exitOf applies the rules of the exit codes; what kept the run from judging
// outweighs what was judged.
func exitOf(ctx context.Context, r Request, rep *graph.Report, results *report.Results, err error) Exit {
	switch {
	case context.Cause(ctx) != nil:
		return Interrupted
	case err != nil:
		return NotJudged
	case rep.InputErrors > 0:
		return Usage
	case rep.Broken > 0, rep.Skipped > 0:
		return NotJudged
	}
	return Exit(report.Summarize(results, r.Policy).Exit)
}

// worsen notes an error that came after judging.
func (o *Outcome) worsen(err error) {
	if err != nil && (o.Exit == Passed || o.Exit == Failed) {
		o.Exit = NotJudged
		o.End.Exit = int(NotJudged)
	}
}
