package eval

import (
	"context"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Readers of a file are determined by what nodes have read: in fresh partitions from the recorded states of paths,
// which name partitions and shared nodes; in compiled ones from the trace of a dry run. So only partitions that read
// the file are compiled.

// states lists the values on the axis state: those of Decision.State. Nodes that are new, broken or failed and
// would run are also stale.
var states = []string{Fresh, "stale", "new", "broken", "failed", "error", "blocked", "skipped", Unknown}

// states returns a function from nodes to their values on the axis state; nil if no selector uses the axis.
func (p *Project) states(ctx context.Context, args []string) (func(*graph.Node) []string, error) {
	if !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "state=") }) {
		return nil, nil
	}
	x, err := p.decideAll(ctx)
	if err != nil {
		return nil, err
	}
	of := p.Plan.Graph
	return func(n *graph.Node) []string {
		id, _ := of.Lookup(n.Addr)
		d := decisionOn(n, x.rep.Status(id))
		if d.Runs && d.State != "stale" {
			return []string{d.State, "stale"}
		}
		return []string{d.State}
	}, nil
}

// compileReaders compiles what is stale, and fresh partitions that read files which selectors name.
func (f *freshness) compileReaders(ctx context.Context, args []string, expand bool) (*Project, error) {
	if !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "file:") }) {
		return f.compile(ctx, expand)
	}
	f, err := f.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	selector, err := f.call.selector(args)
	if err != nil {
		return nil, err
	}
	var edits []cache.Edit
	for _, path := range selector.Files() {
		edits = append(edits, f.call.edit(path))
	}
	if f, err = f.without(ctx, func(part *partState) bool { return readsAny(part, edits) }); err != nil {
		return nil, err
	}
	return f.compile(ctx, expand)
}

func (c *call) edit(path string) cache.Edit {
	return cache.EditOf(options.Absolute(c.options.Path(path)))
}

func readsAny(part *partState, edits []cache.Edit) bool {
	s, err := cache.DecodeSnapshot(part.facts.Snapshot)
	return err != nil || slices.ContainsFunc(edits, func(e cache.Edit) bool { return e.ChangesAny(s) })
}

// readers returns the nodes that read a file, or a file in a directory. It decides only the nodes that read sources.
func (p *Project) readers(ctx context.Context, path string) ([]bool, error) {
	e, g, any := p.call.edit(path), p.Plan.Graph, false
	sources := slices.DeleteFunc(everyNode(p.Plan.Graph), func(id graph.ID) bool {
		n := g.Node(id)
		return n.Pinned != nil || !p.call.trace.Reads(n.Addr)
	})
	if p.all == nil && !p.observed {
		if _, err := p.goalsOf(sources).decide(ctx, false); err != nil {
			return nil, err
		}
		p.observed = true
	}
	set := make([]bool, g.Len())
	add := func(id graph.ID) { set[id], any = true, true }
	for _, id := range sources {
		if slices.ContainsFunc(p.call.trace.Of(g.Node(id).Addr), e.Changes) {
			add(id)
		}
	}
	for _, shared := range p.fresh.sharedReads(e) {
		if id, ok := g.Lookup(shared); ok {
			add(id)
		}
	}
	if any {
		return set, nil
	}
	if p.fresh.configuredBy(e) {
		return nil, exit.Unmatched("%s is read by the configuration, not by a node; the effect depends on the edit: see `fevalgraph plan`", path)
	}
	return nil, exit.Unmatched("no node reads %s", path)
}

// sharedReads returns the addresses of shared nodes that read an edited path.
func (f *freshness) sharedReads(e cache.Edit) (addrs []string) {
	for _, shared := range f.index.Shared {
		if s, err := cache.DecodeSnapshot(shared.Snapshot); err == nil && !f.changed[shared.Addr] && e.ChangesAny(s) {
			addrs = append(addrs, shared.Addr)
		}
	}
	return addrs
}

// configuredBy reports whether the configuration was evaluated from an edited path, or every node depends on
// it.
func (f *freshness) configuredBy(e cache.Edit) bool {
	for _, path := range f.call.baseFiles() {
		if e.Changes(cache.Probe{Path: path, Follow: true}.Sight()) {
			return true
		}
	}
	if f.call.evaluated {
		return slices.ContainsFunc(f.call.inputs, e.Changes)
	}
	s, err := cache.DecodeSnapshot(f.index.Inputs)
	return err == nil && e.ChangesAny(s)
}
