package eval

import (
	"context"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Explanation describes why a node ran, would run, or was served.
type Explanation struct {
	Addr, Kind  string
	State       string // as in Decision, or as in the event of a past run
	Key         string // 64 hexadecimal digits
	PreviousKey string // key of the compared record; "" without one
	Cause       string
	Root        string         // original cause of a node that follows others; otherwise ""
	RootAddr    string         // address of the node with that cause
	Run         string         // the run that produced the stored result, or the requested run
	Changes     []event.Change // previous manifest to current one
	Omitted     int            // number of changes that the record of a past run omits
	Fields      []graph.Field  // current manifest
	Deps        []Decision     // direct dependencies
	LastClass   string         // class of the last attempt
	LastMessage string
}

// Explain decides a node and its dependencies. arg is an address, or a selector that matches one node.
func Explain(ctx context.Context, o Options, arg string) (*Explanation, error) {
	f, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer f.call.close()
	x, ids, err := f.decideNamed(ctx, arg)
	if err != nil {
		return nil, err
	}
	id := ids[max(0, slices.IndexFunc(ids, func(id graph.ID) bool { return !x.rep.IsCached(id) }))] // of a cell, the first that is stale
	n, st := x.project.Plan.Graph.Node(id), x.rep.Status(id)
	e := &Explanation{Addr: n.Addr, Kind: n.Kind, State: stateOf(st), Key: keyOf(st), Cause: causeOf(st), Changes: st.Changes}
	last := x.project.Last(n.Addr)
	if !last.Key.IsZero() {
		e.PreviousKey, e.Run, e.LastClass, e.LastMessage = last.Key.String(), last.Run, string(last.Class), last.Message
	}
	if last.Broken != "" {
		e.LastClass, e.LastMessage = string(last.Ended()), last.Broken
	}
	if st.State == event.Cached && st.Run != "" {
		e.Cause = servedCause(o, e, st.Run)
	}
	if fields, err := graph.DecodeManifest(st.Manifest); err == nil {
		e.Fields = fields
	}
	if root := x.rootOf(id); root != id {
		d := x.decision(root)
		e.Root, e.RootAddr = d.Cause, d.Addr
	}
	for _, d := range n.Deps {
		e.Deps = append(e.Deps, x.decision(d.On))
	}
	return e, nil
}

// servedCause describes which answer serves a node: its own from an earlier run, or another node's with the
// same key.
func servedCause(o Options, e *Explanation, run string) string {
	maker := e.Addr
	if past, err := event.FindRun(o.Records(), run); err == nil {
		if addr, err := history.Maker(past, e.Key); err == nil && addr != "" {
			maker = addr
		}
	}
	if maker != e.Addr {
		_, name, _ := strings.Cut(maker, ":")
		if at := strings.LastIndex(e.Addr, "@"); at >= 0 {
			name = strings.TrimSuffix(name, e.Addr[at:])
		}
		switch e.Kind {
		case plan.KindSubmission, plan.KindTests, plan.KindMaterialize, plan.KindTestData, plan.KindWorkspace, plan.KindInput:
			return "same content as " + name + ", read in run " + run
		}
		return "same inputs as " + name + ", judged in run " + run
	}
	if e.PreviousKey != "" && e.PreviousKey != e.Key {
		return "same inputs as in run " + run
	}
	return e.Cause
}

// decideNamed finds the node that arg names, or the grading nodes of a cell, compiles their problem, and decides them
// and their dependencies.
func (f *freshness) decideNamed(ctx context.Context, arg string) (*execution, []graph.ID, error) {
	p, ids, err := f.compileAround(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	x, err := p.decideOn(ctx, ids...)
	return x, ids, err
}

// compileAround compiles the problem of a node and all stale partitions, and returns the nodes that arg names.
func (f *freshness) compileAround(ctx context.Context, arg string) (*Project, []graph.ID, error) {
	f, err := f.without(ctx, func(part *partState) bool { return strings.Contains(arg, part.Problem) })
	if err != nil {
		return nil, nil, err
	}
	p, err := f.compile(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	if id, ok := p.Plan.Graph.Lookup(arg); ok && p.Plan.Graph.Node(id).Pinned == nil {
		return p, []graph.ID{id}, nil
	}
	// It is a selector, which can match any node.
	if p, err = p.fresh.compileReaders(ctx, []string{arg}, true); err != nil {
		return nil, nil, err
	}
	ids, err := p.named(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	addrs := addresses(p.Plan.Graph, ids, len(ids))
	if p, err = p.withStale(ctx, havePinned(p.Plan.Graph, ids)); err != nil {
		return nil, nil, err
	}
	for i, addr := range addrs {
		if ids[i], err = p.Node(ctx, addr); err != nil {
			return nil, nil, err
		}
	}
	return p, ids, nil
}

// ExplainPast reads from its record why a node ran or was served in a past run.
func ExplainPast(o Options, arg, run string) (*Explanation, error) {
	past, err := event.FindRun(o.Records(), run)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	all, err := history.Nodes(o.Records(), past, recordedName(o, arg), gradingRank)
	if err != nil {
		return nil, err
	}
	ofCell := selection.NamesCells(arg) && gradingRank(all[0]) > 0 // then all of them grade
	if len(all) > 1 && !(ofCell && selection.OneCell(all, func(done event.NodeDone) string { return done.Addr })) {
		return nil, history.Ambiguous(past, arg, all)
	}
	done := all[max(0, slices.IndexFunc(all, func(done event.NodeDone) bool { return done.State != event.Cached }))] // of a cell, the first that ran
	return &Explanation{Addr: done.Addr, Kind: done.Kind, State: string(done.State), Key: done.Key, Cause: done.Cause,
		Run: past.ID, Changes: done.Changes, Omitted: done.Omitted, LastClass: string(done.State), LastMessage: done.Message}, nil
}

// gradingRank ranks the nodes of a recorded run that grade.
func gradingRank(done event.NodeDone) int { return selection.GradingRank(done.Kind) }
