// Package causes finds out why the results of two runs differ, from the manifests of the
// nodes that had the verdicts. Nothing is evaluated.
package causes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/history"
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

// Find sets the cause of each change of a difference that both runs have, and marks those
// as flaky whose inputs are the same. The state is that of the project which recorded the
// runs. A change whose records are gone keeps an empty cause.
func Find(ctx context.Context, state string, store cache.Store, d *report.Difference) error {
	wanted := map[string]*report.Change{}
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Was != nil && c.Is != nil {
			wanted[plan.ResultCell(c.Cell).At(c.Is.Name).String()] = c
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	var sides [2]map[string]nodes
	for i, id := range []string{d.Before, d.After} {
		run, err := event.FindRun(state, id)
		if err == nil {
			sides[i], err = nodesOf(state, run, wanted)
		}
		if err != nil {
			return err
		}
	}
	for name, c := range wanted {
		f := finder{store: store, before: sides[0][name], after: sides[1][name]}
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

// nodes are the keys of a checkpoint's nodes, by address.
type nodes map[string]string

// nodesOf are the nodes of those checkpoints in a run.
func nodesOf(state string, run *event.Run, wanted map[string]*report.Change) (map[string]nodes, error) {
	all := map[string]nodes{}
	err := history.Each(state, run, func(done event.NodeDone) bool {
		_, name, _ := strings.Cut(done.Addr, ":")
		for wanted[name] == nil && strings.Contains(name, "@") { // a node of a part of the checkpoint
			cut := strings.LastIndexByte(name, '/')
			if cut < 0 {
				return true
			}
			name = name[:cut]
		}
		if wanted[name] != nil {
			if all[name] == nil {
				all[name] = nodes{}
			}
			all[name][done.Addr] = done.Key
		}
		return true
	})
	return all, err
}

// finder compares the nodes of one checkpoint in two runs.
type finder struct {
	store         cache.Store
	before, after nodes
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
		old, now := f.before[addr], f.after[addr]
		if old == now {
			continue
		}
		if old == "" || now == "" { // one of the runs does not have it, or did not reach it
			unknown = true
			continue
		}
		was, err := f.manifest(ctx, old)
		if err != nil || was == nil {
			return nil, err
		}
		is, err := f.manifest(ctx, now)
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

// made are the digests of what the checkpoint's nodes made in the second run.
func (f finder) made(ctx context.Context) (map[string]bool, error) {
	made := map[string]bool{}
	for _, key := range f.after {
		r, err := f.record(ctx, key)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		for _, o := range r.Outputs {
			made[o.Digest.String()] = true
		}
	}
	return made, nil
}

func (f finder) record(ctx context.Context, text string) (*cache.Record, error) {
	if text == "" {
		return nil, nil
	}
	key, err := cache.ParseKey(text)
	if err != nil {
		return nil, err
	}
	return f.store.Record(ctx, key)
}

// manifest is that of a key; nil when its record is gone.
func (f finder) manifest(ctx context.Context, key string) ([]graph.Field, error) {
	r, err := f.record(ctx, key)
	if err != nil || r == nil {
		return nil, err
	}
	return graph.DecodeManifest(r.Manifest)
}

func (f finder) texts(ctx context.Context, c event.Change) []string { return Texts(ctx, f.store, c) }

// Texts are a change in words: the files, where it is one of trees that the store has.
func Texts(ctx context.Context, store cache.Store, c event.Change) []string {
	old, oldErr := cache.ParseDigest(c.Old)
	now, newErr := cache.ParseDigest(c.New)
	if oldErr != nil || newErr != nil {
		return []string{graph.ChangeText(c)}
	}
	was, oldErr := files(ctx, store, old)
	is, newErr := files(ctx, store, now)
	if oldErr != nil || newErr != nil { // a file, or a tree that is gone
		return []string{c.Field + " changed"}
	}
	var texts []string
	for _, change := range graph.Diff(was, is) {
		texts = append(texts, c.Field+": "+graph.ChangeText(change))
	}
	return texts
}

// files are those of a tree as fields of a manifest.
func files(ctx context.Context, store cache.Store, tree cache.Digest) ([]graph.Field, error) {
	var all []graph.Field
	err := cache.WalkTree(ctx, store, tree, func(e cache.Entry) error {
		if !e.Dir {
			all = append(all, graph.Field{Label: "file " + e.Path, Value: fmt.Sprintf("%s %t %s", e.Digest, e.Executable, e.Link)})
		}
		return nil
	})
	return all, err
}
