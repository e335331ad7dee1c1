package eval

import (
	"cmp"
	"context"

	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Decisions are what a run would do.
type Decisions struct {
	Nodes       []Decision // in topological order; unless each was asked for, those of fresh partitions are only counted
	Fresh       int        // nodes, with those that are only counted
	Total       int        // likewise
	Unknown     int        // nodes of which it is not known whether they are fresh
	Seconds     float64    // that the others' work is expected to take, one after another
	Jobs        int        // nodes that would run at once
	InputErrors int        // nodes with an input that cannot be read
	// Invalid are the mistakes of invalid problems among the targets.
	Invalid diag.List
	// Resources are the problems by what machines they ask for; nil when none asks.
	Resources []ResourceGroup
	// Launches are the clusters of machines that a run would ask for.
	Launches []kind.Launch
}

// Decision is what a run would do with a node, and why.
type Decision struct {
	Addr     string         `json:"addr"`
	Kind     string         `json:"kind"`
	State    string         `json:"state"` // fresh, stale, new, broken, failed, error, blocked, skipped, unknown
	Cause    string         `json:"cause"`
	Key      string         `json:"key,omitempty"` // 64 hexadecimal digits; "" when it cannot be computed
	Changes  []event.Change `json:"changes,omitempty"`
	Category string         `json:"-"` // one word of the cause: asset, new, follows ...
	Runs     bool           `json:"-"` // it is stale, or would break
	// Cell is the cell that the node belongs to, as far as it belongs to one; File is
	// its test file or case.
	Cell plan.CellID `json:"-"`
	File string      `json:"-"`
	// Root is why the node is stale, without detours: of a node that follows another one, the cause of
	// that. Feeds reports that a stale node of a cell depends on it. Only Plan and Explain set these.
	Root         string `json:"-"`
	RootCategory string `json:"-"`
	RootState    string `json:"-"`
	RootAddr     string `json:"-"` // of the node whose cause it is
	Feeds        bool   `json:"-"`
}

// Fresh is the State of a node whose stored answer a run would serve.
const Fresh = "fresh"

// Unknown is the State of a node that depends on a backend which may not be asked, since
// the project is not trusted.
const Unknown = report.StateUnknown

// Plan decides like Run and executes and writes nothing.
func Plan(ctx context.Context, o Options, r Request) (*Decisions, error) {
	f, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, err := f.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	d := &Decisions{Jobs: o.RunJobs(), Total: g.count().nodes, Invalid: g.noteInvalid()}
	d.Fresh = d.Total
	x, err := g.decide(ctx)
	if err != nil {
		return nil, err
	}
	if x.rep.Foreign > 0 {
		o.Note(options.ForeignIgnored{Count: x.rep.Foreign})
	}
	return d, x.fill(ctx, d)
}

// fill adds what a dry run found to decisions.
func (x *execution) fill(ctx context.Context, d *Decisions) error {
	d.InputErrors = x.rep.InputErrors
	d.Resources = x.resourceGroups()
	waiting := map[string]work{} // by pool
	ids := x.nodes()
	for _, id := range ids {
		n, st := x.Plan.Graph.Node(id), x.rep.Status(id)
		one := decisionOn(n, st)
		if one.State != Fresh {
			d.Fresh--
			d.Seconds += st.Expected
		}
		if st.Unknown {
			d.Unknown++
		}
		if one.Runs || st.Unknown {
			w := waiting[n.Pool]
			waiting[n.Pool] = work{w.nodes + 1, w.seconds + st.Expected}
		}
		d.Nodes = append(d.Nodes, one)
	}
	addRoots(x.Plan.Graph, ids, d.Nodes)
	d.Launches = x.launches(ctx, waiting)
	return nil
}

func decisionOn(n *graph.Node, st *graph.Status) Decision {
	return Decision{Addr: n.Addr, Kind: n.Kind, State: stateOf(st), Cause: causeOf(st), Key: keyOf(st), Changes: st.Changes, Category: categoryOf(st),
		Runs: st.Stale || st.State == event.Broken, Cell: plan.NodeCell(n), File: cmp.Or(n.Label("file"), n.Label("case"))}
}

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
	case st.State == event.Broken, st.WasBroke != "":
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
	if st.WasBroke != "" && st.Stale {
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
	case st.State == event.Broken || st.WasBroke != "":
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
