package eval

import (
	"cmp"
	"context"
	"iter"

	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Decisions is the plan of a run.
type Decisions struct {
	Nodes       iter.Seq[Decision] // in topological order; without EachNode, those of fresh partitions are only counted
	Fresh       int                // number of fresh nodes, including nodes that are only counted
	Total       int                // number of all nodes, including nodes that are only counted
	Unknown     int                // nodes that may be stale
	Seconds     float64            // expected sequential duration of the others' work
	Jobs        int                // nodes that would run in parallel
	InputErrors int                // nodes with an input that cannot be read
	Stale       bool               // a node runs, or would break
	// Invalid lists the errors of invalid problems among the targets.
	Invalid diag.List
	// Resources groups problems by the machines that they request; nil if none does.
	Resources []ResourceGroup
	// Launches lists the clusters of machines that a run would request.
	Launches []kind.Launch
}

// Decision describes what a run would do with a node, and why.
type Decision struct {
	Addr     string         `json:"addr"`
	Kind     string         `json:"kind"`
	State    string         `json:"state"` // fresh, stale, new, broken, failed, error, blocked, skipped, unknown
	Cause    string         `json:"cause"`
	Key      string         `json:"key,omitempty"` // 64 hexadecimal digits; "" if it cannot be computed
	Changes  []event.Change `json:"changes,omitempty"`
	Category string         `json:"-"` // one word of the cause: asset, new, follows ...
	Runs     bool           `json:"-"` // it is stale, or would break
	// Cell is the cell that the node belongs to, with empty fields where it belongs to several; File is its
	// test file or case; Task is the task that it is, or makes an input of.
	Cell plan.CellID `json:"-"`
	File string      `json:"-"`
	Task string      `json:"-"`
	// Root is the original cause of a stale node: for a node that follows others, their cause. Feeds reports
	// whether a stale node of a cell depends on it. Only Plan and Explain set these.
	Root         string `json:"-"`
	RootCategory string `json:"-"`
	RootState    string `json:"-"`
	Feeds        bool   `json:"-"`
}

// Fresh is the State of a node whose stored answer a run would serve.
const Fresh = "fresh"

// Unknown is the State of a node that depends on a backend which may not be queried because the project is not
// trusted.
const Unknown = report.StateUnknown

// Plan makes the decisions of Run, without executing or writing anything.
func Plan(ctx context.Context, o Options, r Request) (*Decisions, error) {
	f, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer f.call.close()
	g, err := f.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	x, err := g.foresee(ctx)
	if err != nil {
		return nil, err
	}
	d := &Decisions{Jobs: o.RunJobs(), Total: x.goals.count().nodes, Invalid: x.goals.noteInvalid()}
	d.Fresh = d.Total
	if x.rep.Foreign > 0 {
		o.Note(options.ForeignIgnored{Count: x.rep.Foreign})
	}
	return d, x.fill(ctx, d)
}

// fill adds the findings of a dry run.
func (x *execution) fill(ctx context.Context, d *Decisions) error {
	d.InputErrors = x.rep.InputErrors
	d.Resources = x.resourceGroups()
	waiting := map[string]pendingWork{} // by pool
	ids := x.goals.nodes()
	for _, id := range ids {
		if x.rep.IsCached(id) {
			continue
		}
		n, st := x.project.Plan.Graph.Node(id), x.rep.Status(id)
		d.Fresh--
		d.Seconds += st.Expected
		if st.Unknown {
			d.Unknown++
		}
		d.Stale = d.Stale || runs(st)
		if runs(st) || st.Unknown {
			w := waiting[n.Pool]
			waiting[n.Pool] = pendingWork{w.nodes + 1, w.seconds + st.Expected}
		}
	}
	d.Nodes = x.decisions(ids)
	d.Launches = x.project.launches(ctx, waiting)
	return nil
}

func decisionOn(n *graph.Node, st *graph.Status) Decision {
	return Decision{Addr: n.Addr, Kind: n.Kind, State: stateOf(st), Cause: causeOf(st), Key: keyOf(st), Changes: st.Changes, Category: categoryOf(st),
		Runs: runs(st), Cell: plan.NodeCell(n), File: cmp.Or(n.Label("file"), n.Label("case")), Task: n.Label("task")}
}

// runs reports whether a node is stale, or would break.
func runs(st *graph.Status) bool { return st.Stale || st.State == event.Broken }

func stateOf(st *graph.Status) string {
	switch {
	case st.State == event.Cached:
		return Fresh
	case st.Unknown:
		return Unknown
	case st.Input:
		return "error"
	case st.State == event.Blocked:
		return "blocked"
	case st.State == event.Skipped:
		return "skipped"
	case st.State == event.Failed, st.WasFailed:
		return "failed"
	case st.State == event.Broken, st.WasBroken:
		return "broken"
	case st.New:
		return "new"
	}
	return "stale"
}

func causeOf(st *graph.Status) string {
	if st.Message != "" && st.State != event.Cached {
		return st.Message
	}
	if st.WasBroken && st.Stale {
		return st.Cause + ", will retry"
	}
	return st.Cause
}

func categoryOf(st *graph.Status) string {
	switch {
	case st.Unknown:
		return Unknown
	case st.Input:
		return "error"
	case st.WasFailed:
		return "failed"
	case st.State == event.Broken || st.WasBroken:
		return "broken"
	case st.State == event.Blocked:
		return "blocked"
	case st.State == event.Skipped:
		return "skipped"
	case st.New && st.Category != event.CauseFollows:
		return "new"
	}
	return string(cmp.Or(st.Category, event.CauseChanged))
}

func keyOf(st *graph.Status) string {
	if st.Key.IsZero() {
		return ""
	}
	return st.Key.String()
}
