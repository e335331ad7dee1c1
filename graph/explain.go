package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// causeLost is the cause of a node whose answer is known, but whose outputs are not in the store.
const causeLost = "its output is no longer in the store"

// explain determines why a node has no stored answer, by comparing its
// manifest with that of the last answer for its address.
func (s *scheduler) explain(ctx context.Context, d *decision, last Last) {
	st := &d.status
	switch {
	case last.Broken != "" && last.Key.IsZero():
		st.Cause, st.Category = last.attempt(), event.CauseBroken
		return
	case last.Key.IsZero():
		st.Cause, st.Category = "never ran", event.CauseNew
		return
	case last.Key == st.Key && last.Store != s.o.Store.ID():
		st.Cause, st.Category = "its output is in another store", event.CauseLost
		return
	case last.Key == st.Key:
		st.Cause, st.Category = causeLost, event.CauseLost
		return
	}
	old, err := s.manifest(ctx, last.Key)
	if err != nil {
		st.Cause, st.Category = "its inputs changed (the record of the earlier ones is gone)", event.CauseChanged
		return
	}
	now, err := DecodeManifest(st.Manifest)
	if err != nil {
		st.Cause, st.Category = "its inputs changed", event.CauseChanged
		return
	}
	changes := Diff(old, now)
	via := s.trace(ctx, d, changes)
	st.Cause, st.Category = summarise(changes, via)
	st.Changes = expand(changes, via)
	if last.Broken != "" {
		st.Cause += attemptSeparator + last.attempt()
	}
}

// manifest returns the manifest of an earlier answer from its record.
func (s *scheduler) manifest(ctx context.Context, k cache.Key) ([]Field, error) {
	r, err := s.o.Store.Record(ctx, k)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("record %s is gone", k)
	}
	return DecodeManifest(r.Manifest)
}

// trace sets Via of changes that came from a dependency. It returns the input for each change, or nil. A dependency that
// is fresh, as another run has executed it, has the files of its output as its cause.
func (s *scheduler) trace(ctx context.Context, d *decision, changes []event.Change) []*input {
	byLabel := map[string]*input{}
	for i := range d.inputs {
		byLabel[d.inputs[i].dep.As+" "+RefusedOutput] = &d.inputs[i]
		for _, name := range d.inputs[i].dep.Outputs {
			byLabel[d.inputs[i].label(name)] = &d.inputs[i]
		}
	}
	via := make([]*input, len(changes))
	for i := range changes {
		if in := byLabel[changes[i].Field]; in != nil {
			if !in.stale {
				in.changes = s.treeChanges(ctx, in, changes[i])
				in.cause, _ = summarise(in.changes, make([]*input, len(in.changes)))
			}
			via[i], changes[i].Via = in, s.g.Node(in.dep.On).Addr
		}
	}
	return via
}

// treeChanges lists how the files of a changed input differ, once for all nodes that have it. It returns nil for an input
// that is not a tree, and if the store lacks a tree.
func (s *scheduler) treeChanges(ctx context.Context, in *input, c event.Change) []event.Change {
	isNew := func(o cache.Output) bool { return o.Tree && o.Digest.String() == c.New }
	if !slices.ContainsFunc(in.outputs, isNew) {
		return nil
	}
	both := [2]string{c.Old, c.New}
	if known, ok := s.trees.Load(both); ok {
		return known.([]event.Change)
	}
	changes := CompareTrees(ctx, s.o.Store, s.o.Store, c)
	s.trees.Store(both, changes)
	return changes
}

// CompareTrees lists how the files of a tree before a change, in one store, differ from those after it, in another. It
// returns nil if either is not a tree, or not in its store.
func CompareTrees(ctx context.Context, before, after cache.Store, c event.Change) []event.Change {
	was, oldErr := treeFields(ctx, before, c.Old)
	is, newErr := treeFields(ctx, after, c.New)
	if oldErr != nil || newErr != nil {
		return nil
	}
	return Diff(was, is)
}

// treeFields returns the files of a tree as fields of a manifest.
func treeFields(ctx context.Context, store cache.Store, tree string) (all []Field, err error) {
	root, err := cache.ParseDigest(tree)
	if err != nil {
		return nil, err
	}
	err = cache.WalkTree(ctx, store, root, func(e cache.Entry) error {
		if !e.Dir {
			all = append(all, Field{Label: "file " + e.Path, Value: strings.TrimSpace(fmt.Sprintf("%s %t %s", e.Digest, e.Executable, e.Link))})
		}
		return nil
	})
	return all, err
}

// expand inserts, after every changed dependency, the changes of the
// dependency itself, so that a node's explanation reaches down to the files.
func expand(changes []event.Change, via []*input) []event.Change {
	const maxPerDep, maxInAll = 50, 500
	var all []event.Change
	room := maxInAll
	seen := map[ID]bool{}
	for i, c := range changes {
		all = append(all, c)
		in := via[i]
		if in == nil || seen[in.dep.On] {
			continue
		}
		seen[in.dep.On] = true
		below := in.changes[:min(len(in.changes), maxPerDep, room)]
		room -= len(below)
		for _, b := range below {
			if b.Via == "" {
				b.Via = c.Via
			}
			all = append(all, b)
		}
	}
	return all
}

// summarise describes the changes in one line. A changed dependency appears once, regardless of the number of
// changed outputs, with the original cause.
func summarise(changes []event.Change, via []*input) (cause string, category event.Category) {
	const maxNamed = 2
	if len(changes) == 0 {
		return "its inputs changed, but its manifest does not show how", event.CauseChanged
	}
	var parts []string
	seen := map[ID]bool{}
	for i, c := range changes {
		if in := via[i]; in == nil {
			parts = append(parts, ChangeText(c))
		} else if text := in.changeText(); !seen[in.dep.On] && !slices.Contains(parts, text) {
			seen[in.dep.On] = true
			parts = append(parts, text)
		}
	}
	if more := len(parts) - maxNamed; more > 1 {
		parts = append(parts[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	label, _, _ := strings.Cut(changes[0].Field, " ")
	return strings.Join(parts, ", "), event.Category(label)
}

// changeText summarizes the change of an input by its original cause: the file or field, with the name of the input
// that reads it. The inputs in between are in Status.Changes.
func (in *input) changeText() string {
	const maxCause = 300                             // without a limit, causes would grow with every node that has several inputs
	name := cmp.Or(in.dep.Shown, in.dep.As, in.kind) // the only checkpoint of a cell can have no name
	cause, _, _ := strings.Cut(in.cause, attemptSeparator)
	switch {
	case len(in.changes) == 0 && !in.stale || cause == "" || len(cause) > maxCause:
		return name + " changed"
	case slices.ContainsFunc(in.changes, func(c event.Change) bool { return c.Via != "" }):
		return cause
	}
	return name + ": " + cause
}

// attemptSeparator precedes what follows a cause: the last attempt, or why a record does not count.
const attemptSeparator = "; "
