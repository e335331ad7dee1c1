package pages

import (
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/causes"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// Limits of a node's manifest and changes in a page.
const (
	mostFields = 200
	mostFiles  = 100
)

// nodes indexes the nodes that produced results by the names of their cells and checkpoints.
type nodes struct {
	history.Judged
	source *Source
	byName map[string][]event.NodeDone
	linked map[string]*linked // by address, including shared nodes
	trees  map[string]*page.Tree
}

// linked is a node that produced results, with the addresses of its dependencies.
type linked struct {
	graph.Row
	deps []string
}

// nodesOf returns the nodes that produced the results of a run, which it reads once.
func (s *Source) nodesOf(of *page.Run) (*nodes, error) {
	n := &nodes{Judged: history.JudgedIn(of.Results), source: s, byName: map[string][]event.NodeDone{}, linked: map[string]*linked{}, trees: map[string]*page.Tree{}}
	for _, run := range n.Runs() {
		last := map[string]int{} // index in byName of the event for an address
		err := history.Each(s.State, event.OpenRun(s.State, run), func(done event.NodeDone) bool {
			name, ok := n.Owner(done.Addr)
			if !ok || n.Run(name) != run {
				return true
			}
			if at, again := last[done.Addr]; again {
				n.byName[name][at] = done
				return true
			}
			last[done.Addr] = len(n.byName[name])
			n.byName[name] = append(n.byName[name], done)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	err := n.Nodes(s.State, func(row *graph.Row, deps []string) {
		known := n.linked[row.Addr]
		if known == nil || known.Key.IsZero() {
			n.linked[row.Addr] = &linked{*row, deps}
		}
	})
	for _, all := range n.byName {
		for i := range all {
			known := n.linked[all[i].Addr]
			if known == nil {
				known = &linked{Row: graph.Row{Addr: all[i].Addr, Kind: all[i].Kind}}
				n.linked[all[i].Addr] = known
			}
			if len(known.deps) == 0 { // no answer
				known.deps = all[i].Needs
			}
		}
	}
	return n, err
}

// namesOf returns the part after the kind in addresses of a cell's nodes.
func namesOf(cell *report.Cell) []string {
	id := plan.ResultCell(cell)
	names := []string{id.String()}
	for i := range cell.Checkpoints {
		if name := id.At(cell.Checkpoints[i].Name).String(); name != names[0] {
			names = append(names, name)
		}
	}
	return names
}

// ofCell returns the nodes of a cell for a page.
func (n *nodes) ofCell(ctx context.Context, cell *report.Cell) ([]page.Node, error) {
	var all []page.Node
	for _, name := range slices.Backward(namesOf(cell)) {
		for i := range n.byName[name] {
			node, err := n.node(ctx, n.Run(name), &n.byName[name][i])
			if err != nil {
				return nil, err
			}
			all = append(all, *node)
		}
	}
	return all, nil
}

func (n *nodes) node(ctx context.Context, run string, done *event.NodeDone) (*page.Node, error) {
	node := &page.Node{Addr: done.Addr, Kind: done.Kind, State: string(done.State), Cause: done.Cause, Changes: done.Changes, Key: done.Key,
		Seconds: done.Seconds, Attempt: done.Attempt, Message: done.Message}
	for _, c := range done.Changes {
		node.Files = append(node.Files, causes.Texts(ctx, n.source.Store, c)...)
	}
	node.Files = node.Files[:min(len(node.Files), mostFiles)]
	log, err := history.Log(ctx, n.source.Store, event.OpenRun(n.source.State, run), done)
	var said *exit.Error
	switch {
	case err == nil:
		node.Log = string(log)
	case errors.Is(err, history.ErrNoLog):
	case errors.As(err, &said) && said.Class == exit.Usage: // no longer in the store
		node.Log = err.Error()
	default:
		return nil, err
	}
	return node, n.manifest(ctx, done, node)
}

// manifest adds the fields of a node's manifest, if the store contains it.
func (n *nodes) manifest(ctx context.Context, done *event.NodeDone, node *page.Node) error {
	key, err := cache.ParseKey(done.Key)
	if done.Key == "" || err != nil {
		return nil
	}
	record, err := n.source.Store.Record(ctx, key)
	var foreign *cache.ForeignError
	if errors.As(err, &foreign) || err == nil && record == nil {
		return nil
	}
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	fields, err := graph.DecodeManifest(record.Manifest)
	if err != nil { // of another version
		return nil
	}
	for _, f := range fields[:min(len(fields), mostFields)] {
		node.Fields = append(node.Fields, [2]string{f.Label, f.Value})
	}
	return nil
}

// workOf returns the attempts of a run whose begin is recorded.
func workOf(run *event.Run) ([]page.Work, error) {
	begin, ok := run.Start()
	if !ok {
		return nil, nil
	}
	var all []page.Work
	open := map[string]int{}
	err := run.Each(func(e event.Event) bool {
		switch e := e.(type) {
		case event.NodeStart:
			if !e.Time.IsZero() {
				open[e.Addr] = len(all)
				all = append(all, page.Work{Addr: e.Addr, Kind: e.Kind, Pool: e.Pool, State: string(event.Interrupted), Start: e.Time.Sub(begin.Time).Seconds()})
			}
		case event.NodeRetry:
			if at, ok := open[e.Addr]; ok {
				all[at].State = string(event.Broken)
				delete(open, e.Addr)
			}
		case event.NodeDone:
			if at, ok := open[e.Addr]; ok {
				all[at].State, all[at].Seconds = string(e.State), e.Seconds
				delete(open, e.Addr)
			}
		}
		return true
	})
	return all, err
}
