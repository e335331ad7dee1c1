// Package causes finds out why two results differ, from the manifests of the
// nodes that had the verdicts. Nothing is evaluated.
package causes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// same is the cause of a verdict that changed while nothing changed that it depends on.
const same = "no input changed"

// most is how many changes a cause names.
const most = 3

// Row is a node of a run with what it had: its key, and what it made.
type Row = graph.Row

// Side is one of the results that are compared, as far as it is known how they were made.
type Side struct {
	// Nodes calls fn for the nodes that made the results, with their keys and, as far as it is
	// known, what they made then: the store has what their last execution made.
	Nodes func(fn func(*Row)) error
	Store cache.Store // with their records
	// Solution is whose results these are, where those of two solutions are compared under one
	// name; "" is each result's own.
	Solution string
}

// Find sets the cause of each change of a difference that both sides have, and marks those
// as flaky whose inputs are the same. A change whose records are gone keeps an empty cause.
func Find(ctx context.Context, before, after Side, d *report.Difference) error {
	var wanted [2]map[string]*report.Change // by the names of checkpoints on each side
	for i, side := range []Side{before, after} {
		wanted[i] = map[string]*report.Change{}
		for j := range d.Changes {
			if c := &d.Changes[j]; c.Was != nil && c.Is != nil && c.Kind != report.ChangeStale {
				id := plan.ResultCell(c.Cell).At(c.Is.Name)
				id.Solution = cmp.Or(side.Solution, id.Solution)
				wanted[i][id.String()] = c
			}
		}
	}
	if len(wanted[0]) == 0 {
		return nil
	}
	var sides [2]map[*report.Change]nodes
	for i, side := range []Side{before, after} {
		var err error
		if sides[i], err = side.nodes(wanted[i]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted[1])) {
		c := wanted[1][name]
		f := finder{before: sides[0][c], after: sides[1][c], was: reader{before.Store}, is: reader{after.Store}}
		found, err := f.find(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		switch {
		case c.Kind == report.ChangeBroken && c.Is.Message != nil:
			c.Cause = *c.Is.Message
		case c.Was.Class.Status() == verdict.Broken && c.Was.Message != nil:
			c.Cause = "it was broken: " + *c.Was.Message
		case found == nil: // records are gone
		case len(found) == 0:
			c.Kind, c.Cause = report.ChangeFlaky, same
		default:
			c.Cause = joined(found)
		}
	}
	d.Sort()
	return nil
}

func joined(found []string) string {
	if len(found) > most+1 {
		found = append(found[:most:most], fmt.Sprintf("and %d more", len(found)-most))
	}
	return strings.Join(found, ", ")
}

// nodes are those of a checkpoint, by their addresses without its name.
type nodes map[string]node

type node struct {
	key     string         // "" is unknown
	outputs []cache.Output // nil is unknown
}

// nodes are those of the wanted checkpoints.
func (s Side) nodes(wanted map[string]*report.Change) (map[*report.Change]nodes, error) {
	all := map[*report.Change]nodes{}
	err := s.Nodes(func(row *Row) {
		kind, name, _ := strings.Cut(row.Addr, ":")
		part := ""
		for wanted[name] == nil && strings.Contains(name, "@") { // a node of a part of the checkpoint
			cut := strings.LastIndexByte(name, '/')
			if cut < 0 {
				return
			}
			name, part = name[:cut], name[cut:]+part
		}
		if c := wanted[name]; c != nil {
			if all[c] == nil {
				all[c] = nodes{}
			}
			one := node{outputs: row.Outputs}
			if !row.Key.IsZero() {
				one.key = row.Key.String()
			}
			all[c][kind+part] = one
		}
	})
	return all, err
}

// finder compares the nodes of one checkpoint on two sides.
type finder struct {
	before, after nodes
	was, is       reader
}

// find lists what changed that does not follow from another node of the checkpoint. It is
// empty when nothing did, and nil when that is not known.
func (f finder) find(ctx context.Context) ([]string, error) {
	if len(f.before) == 0 || len(f.after) == 0 {
		return nil, nil
	}
	made, err := f.made(ctx)
	if err != nil {
		return nil, err
	}
	found, unknown := []string{}, false
	for _, addr := range slices.Sorted(maps.Keys(f.after)) {
		old, now := f.before[addr].key, f.after[addr].key
		if old == now {
			continue
		}
		if old == "" || now == "" { // one of the sides does not have it, or did not reach it
			unknown = true
			continue
		}
		was, err := f.was.manifest(ctx, old)
		if err != nil || was == nil {
			return nil, err
		}
		is, err := f.is.manifest(ctx, now)
		if err != nil || is == nil {
			return nil, err
		}
		for _, c := range graph.Diff(was, is) {
			if made[c.New] {
				continue
			}
			for _, text := range f.texts(ctx, c) {
				if !slices.Contains(found, text) {
					found = append(found, text)
				}
			}
		}
	}
	if unknown && len(found) == 0 {
		return nil, nil
	}
	return found, nil
}

// made are the digests of what the checkpoint's nodes made on the second side.
func (f finder) made(ctx context.Context) (map[string]bool, error) {
	made := map[string]bool{}
	for _, n := range f.after {
		outputs := n.outputs
		if outputs == nil {
			r, err := f.is.record(ctx, n.key)
			if err != nil {
				return nil, err
			}
			if r == nil {
				continue
			}
			outputs = r.Outputs
		}
		for _, o := range outputs {
			made[o.Digest.String()] = true
		}
	}
	return made, nil
}

func (f finder) texts(ctx context.Context, c event.Change) []string {
	return texts(ctx, f.was, f.is, c)
}

// Texts are a change in words: the files, where it is one of trees that the store has.
func Texts(ctx context.Context, store cache.Store, c event.Change) []string {
	r := reader{store: store}
	return texts(ctx, r, r, c)
}

func texts(ctx context.Context, before, after reader, c event.Change) []string {
	old, oldErr := cache.ParseDigest(c.Old)
	now, newErr := cache.ParseDigest(c.New)
	if oldErr != nil || newErr != nil {
		return []string{graph.ChangeText(c)}
	}
	was, oldErr := before.files(ctx, old)
	is, newErr := after.files(ctx, now)
	if oldErr != nil || newErr != nil { // a file, or a tree that is gone
		return []string{c.Field + " changed"}
	}
	var all []string
	for _, change := range graph.Diff(was, is) {
		all = append(all, c.Field+": "+graph.ChangeText(change))
	}
	return all
}
