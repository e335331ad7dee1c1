package causes

import (
	"context"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// keys identify a node on both sides.
type keys struct{ was, is cache.Key }

// differences collects the changes between two nodes as text.
type differences struct {
	all     []difference
	unknown bool // other, unknown changes are possible
}

// difference describes a change. The text for a file lacks the name of its source, which the node that reads the
// source adds; that for an own setting of a task lacks the task, which a node that uses its output adds.
type difference struct {
	text string
	file bool
	own  bool // of the node, not of a dependency
}

func (d *differences) add(more differences) {
	for _, one := range more.all {
		if !slices.Contains(d.all, one) {
			d.all = append(d.all, one)
		}
	}
	d.unknown = d.unknown || more.unknown
}

// texts returns the differences without duplicates.
func (d *differences) texts() (all []string) {
	for _, one := range d.all {
		if !slices.Contains(all, one.text) {
			all = append(all, one.text)
		}
	}
	return all
}

// compareNodes lists the differences between two nodes. If a dependency caused a difference, it lists the
// differences of the dependency instead. A nil node, or one without a record, is unknown.
func (f *Finder) compareNodes(ctx context.Context, was, is *node) (differences, error) {
	switch {
	case was == nil || is == nil || was.Key.IsZero() || is.Key.IsZero():
		return differences{unknown: true}, nil
	case was.Key == is.Key:
		return differences{}, nil
	}
	both := keys{was.Key, is.Key}
	if found, known := f.known[both]; known {
		return found, nil
	}
	old, err := f.was.manifest(ctx, was.Key)
	if err != nil || old == nil {
		return differences{unknown: true}, err
	}
	now, err := f.is.manifest(ctx, is.Key)
	if err != nil || now == nil {
		return differences{unknown: true}, err
	}
	var found differences
	for _, c := range graph.Diff(old, now) {
		more, err := f.change(ctx, was, is, c)
		if err != nil {
			return differences{}, err
		}
		found.add(more)
	}
	f.known[both] = found
	return found, nil
}

// change lists the causes of the change of one field of two nodes.
func (f *Finder) change(ctx context.Context, was, is *node, c event.Change) (found differences, err error) {
	old, oldErr := cache.ParseDigest(c.Old)
	now, newErr := cache.ParseDigest(c.New)
	makers, made := f.makers(was, is, old, now)
	switch {
	case made:
	case strings.HasPrefix(c.Field, "file "):
		return differences{all: []difference{{text: graph.ChangeText(c), file: true}}}, nil
	case oldErr != nil || newErr != nil:
		return differences{all: []difference{{text: graph.ChangeText(c), own: true}}}, nil
	default:
		if files := f.files(ctx, c.Field, c); len(files) > 0 {
			return differences{all: files}, nil
		}
		return differences{all: []difference{{text: c.Field + " changed"}}}, nil // a file, or a tree that is missing
	}
	found.unknown = len(makers) == 0
	for _, maker := range makers {
		label := c.Field
		switch maker[1].Kind {
		case plan.KindCompile:
			label = plan.KindSubmission
		case plan.KindChecker, plan.KindInteractor:
			label = maker[1].Kind
		case plan.KindTestData:
			label = "test data " + strings.TrimPrefix(maker[1].Addr, plan.KindTestData+":")
		}
		if len(maker[1].deps) == 0 {
			if files := f.files(ctx, label, c); len(files) > 0 { // the part of a source that reaches the node
				found.add(differences{all: files})
				continue
			}
		}
		more, err := f.compareNodes(ctx, maker[0], maker[1])
		if err != nil {
			return found, err
		}
		named := differences{unknown: more.unknown}
		for _, one := range more.all {
			text := one.text
			switch {
			case one.file:
				text = label + ": " + text
			case one.own && maker[1].Kind == plan.KindTask:
				text = maker[1].Addr + ": " + text
			}
			named.all = append(named.all, difference{text: text})
		}
		found.add(named)
	}
	return found, nil
}

// makers finds the dependencies of two nodes that made a content on each side, or on one of them. made
// reports whether any node did. Several nodes can make the same content: nodes at the same index are paired,
// if both sides have as many.
func (f *Finder) makers(was, is *node, old, now cache.Digest) (makers [][2]*node, made bool) {
	var before, after []*node
	places := map[string]int{}
	for at, addr := range was.deps {
		if n := f.nodes[0][addr]; n.producedOutput(old) {
			before, places[addr] = append(before, n), at
		}
	}
	for at, addr := range is.deps {
		n := f.nodes[1][addr]
		if !n.producedOutput(now) {
			continue
		}
		after = append(after, n)
		for _, b := range before {
			if b.Addr == n.Addr || len(was.deps) == len(is.deps) && places[b.Addr] == at {
				makers = append(makers, [2]*node{b, n})
				break
			}
		}
	}
	switch {
	case len(makers) > 0:
	case len(before) > 0 && len(after) > 0:
		makers = append(makers, [2]*node{before[0], after[0]})
	case len(after) > 0:
		makers = append(makers, [2]*node{f.nodes[0][after[0].Addr], after[0]})
	case len(before) > 0 && f.nodes[1][before[0].Addr] != nil:
		makers = append(makers, [2]*node{before[0], f.nodes[1][before[0].Addr]})
	}
	return makers, len(before)+len(after) > 0
}

func (n *node) producedOutput(content cache.Digest) bool {
	return n != nil && slices.ContainsFunc(n.Outputs, func(o cache.Output) bool { return o.Digest == content })
}

// files lists the files that differ between two trees; nil for another content, and for a tree that is missing.
func (f *Finder) files(ctx context.Context, label string, c event.Change) (all []difference) {
	for _, change := range graph.CompareTrees(ctx, f.was.store, f.is.store, c) {
		all = append(all, difference{text: label + ": " + graph.ChangeText(change)})
	}
	return all
}

// Texts describes a change as text: the files, for a changed tree that is in the store.
func Texts(ctx context.Context, store cache.Store, c event.Change) (all []string) {
	for _, change := range graph.CompareTrees(ctx, store, store, c) {
		all = append(all, c.Field+": "+graph.ChangeText(change))
	}
	if len(all) == 0 {
		return []string{graph.ChangeText(c)}
	}
	return all
}
