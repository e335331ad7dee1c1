// Package causes determines why two results differ, from the manifests of the nodes that produced the verdicts.
// It evaluates nothing.
package causes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// same is the cause of a changed verdict whose inputs did not change.
const same = "no input changed"

// Row is a node of a run.
type Row = graph.Row

// node is a node of a run: its key, its outputs of that run, and the addresses of the nodes that it
// depended on.
type node struct {
	Row
	deps []string
}

// Side is one of the compared results, with the records of its nodes, as far as they are known.
type Side struct {
	// Nodes calls fn for the nodes that produced the results, with the addresses of their dependencies. Their
	// outputs must be those of that run: the store contains those of the key's last execution.
	Nodes func(fn func(row *Row, deps []string)) error
	Store cache.Store // contains the records of Nodes
	// Solution is the solution of the results, for comparing two solutions under one name. "" means each
	// result's own.
	Solution string
}

// Finder finds causes in two sides. It reads their nodes once.
type Finder struct {
	sides [2]Side
	nodes [2]map[string]*node // by address
	was   reader
	is    reader
	known map[keys]differences // of nodes that checkpoints share
}

// NewFinder reads the nodes of two sides.
func NewFinder(before, after Side) (*Finder, error) {
	f := &Finder{sides: [2]Side{before, after}, was: reader{before.Store}, is: reader{after.Store}, known: map[keys]differences{}}
	for i, side := range f.sides {
		all := map[string]*node{}
		err := side.Nodes(func(row *Row, deps []string) {
			if known := all[row.Addr]; known == nil || known.Key.IsZero() {
				all[row.Addr] = &node{Row: *row, deps: deps}
			}
		})
		if err != nil {
			return nil, err
		}
		f.nodes[i] = all
	}
	return f, nil
}

// Changes sets the causes of each change that both sides have, and marks changes with equal inputs as flaky.
// A change whose records are gone keeps no cause.
func (f *Finder) Changes(ctx context.Context, d *report.Difference) error {
	for i := range d.Changes {
		c := &d.Changes[i]
		if c.Was == nil || c.Is == nil || c.Kind == report.ChangeStale {
			continue
		}
		found, err := f.compareNodes(ctx, f.grader(0, c), f.grader(1, c))
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		switch {
		case c.Kind == report.ChangeBroken && c.Is.Message != nil:
			c.Causes = []string{c.Is.Trouble()}
		case c.Kind == report.ChangeJudged && c.Was.Message != nil:
			c.Causes = []string{"it was " + unjudgedState(c.Was) + ": " + c.Was.Trouble()}
		case c.Is.Class == verdict.Refused && c.Is.Message != nil: // a refused submission lists no files
			c.Causes = []string{"submission refused: " + *c.Is.Message}
		case c.Was.Class == verdict.Refused && c.Was.Message != nil:
			c.Causes = []string{"the submission was refused: " + *c.Was.Message}
		case len(found.all) > 0:
			c.Causes = found.texts()
		case !found.unknown:
			c.Kind, c.Causes = report.ChangeFlaky, []string{same}
		}
	}
	d.Sort()
	return nil
}

// unjudgedState names the state of a checkpoint without a verdict.
func unjudgedState(c *report.Checkpoint) string {
	switch c.Class {
	case verdict.NotRun:
		return "skipped"
	case verdict.Blocked:
		return "blocked"
	}
	return "broken"
}

// grader finds the node that graded the checkpoint of a change on a side. It returns nil if the
// side does not have it.
func (f *Finder) grader(side int, c *report.Change) *node {
	if c.Task != nil {
		return f.nodes[side][c.Name]
	}
	id := plan.ResultCell(c.Cell).At(c.Is.Name)
	id.Solution = cmp.Or(f.sides[side].Solution, id.Solution)
	for _, addr := range id.GradedAt() {
		if n := f.nodes[side][addr]; n != nil {
			return n
		}
	}
	return nil
}

// Again counts the checkpoints that were judged on other inputs and have the same verdict, by cause. It
// leaves out those for which skip is true.
func (f *Finder) Again(ctx context.Context, skip func(name string) bool) ([]report.Again, error) {
	at, all := map[string]int{}, []report.Again{}
	for _, addr := range slices.Sorted(maps.Keys(f.nodes[1])) {
		name, isGrader := gradedCheckpoint(f.nodes[1][addr])
		if !isGrader || f.nodes[0][addr] == nil || skip(name) {
			continue
		}
		found, ran, err := f.workDifferences(ctx, addr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !ran {
			continue
		}
		causes := found.texts()
		cause := strings.Join(causes, ", ")
		i, known := at[cause]
		if !known {
			i = len(all)
			at[cause] = i
			all = append(all, report.Again{Causes: causes})
		}
		all[i].Checkpoints++
	}
	slices.SortStableFunc(all, func(a, b report.Again) int { return cmp.Compare(b.Checkpoints, a.Checkpoints) })
	return all, nil
}

// gradedCheckpoint returns the name of the checkpoint that a node grades, and whether it grades one.
func gradedCheckpoint(n *node) (string, bool) {
	_, name, _ := strings.Cut(n.Addr, ":")
	return name, (n.Kind == plan.KindScore || n.Kind == plan.KindAggregate) && len(n.deps) > 0
}

// workDifferences finds the differences of the working nodes below a grader. ran is false if there are none.
func (f *Finder) workDifferences(ctx context.Context, addr string) (found differences, ran bool, err error) {
	seen, open := map[string]bool{addr: true}, []string{addr}
	for len(open) > 0 {
		addr, open = open[0], open[1:]
		was, is := f.nodes[0][addr], f.nodes[1][addr]
		if is == nil || len(is.deps) == 0 { // a source: the nodes that read it report it
			continue
		}
		if was != nil && was.Key != is.Key {
			more, err := f.compareNodes(ctx, was, is)
			if err != nil {
				return differences{}, false, err
			}
			found.add(more)
			ran = true
		}
		for _, dep := range is.deps {
			if !seen[dep] {
				seen[dep] = true
				open = append(open, dep)
			}
		}
	}
	return found, ran && len(found.all) > 0, nil
}
