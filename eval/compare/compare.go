// Package compare compares two results from any source: runs of this or other projects, packs, files, or the
// current state of the project. It determines what differs and, with package causes, why. It evaluates nothing.
package compare

import (
	"cmp"
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/eval/causes"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Now names the current state of the project instead of a run.
const Now = "now"

// Comparison compares results for a project.
type Comparison struct {
	Options *options.Options
	// Now returns the results for the current state of the project: verdicts that are up to date, and
	// checkpoints that a run would judge, with the reason by checkpoint name.
	Now func(ctx context.Context) (results *report.Results, stale map[string]string, err error)
}

// Runs compares two results, or the parts that selectors match, and determines the causes of changes. A side is
// Now, a run, a project's directory as DIR or DIR@RUN, a pack with a run, or a file of results in JSON, for
// which causes are unknown.
func (c *Comparison) Runs(ctx context.Context, before, after string, selectors []string) (*report.Difference, error) {
	a, b, shared, err := c.openSides(ctx, before, after, len(selectors) == 0)
	if err != nil {
		return nil, err
	}
	for _, s := range []*side{a, b} {
		if s.results, err = selection.Pick(s.results, selectors); err != nil {
			return nil, err
		}
	}
	compared := func(string) bool { return true }
	if len(selectors) > 0 {
		names := map[string]bool{}
		for i := range b.results.Cells {
			for _, c := range b.results.Cells[i].Checkpoints {
				names[plan.ResultCell(&b.results.Cells[i]).At(c.Name).String()] = true
			}
		}
		compared = func(name string) bool { return names[name] }
	}
	d, err := a.differ(ctx, b, compared)
	if err != nil {
		return nil, err
	}
	d.Same += shared
	return d, nil
}

// Solutions compares the results of two solutions in one run, or another side as for Runs. It returns the
// difference from the first to the second.
func (c *Comparison) Solutions(ctx context.Context, run, before, after string, selectors []string) (*report.Difference, error) {
	whole, err := c.openSide(ctx, run)
	if err != nil {
		return nil, err
	}
	sides := [2]*side{}
	for i, solution := range []string{before, after} {
		one := *whole
		one.name, one.causes.Solution, one.partial = solution, solution, false
		one.results = &report.Results{Schema: report.Schema, Run: whole.results.Run}
		for _, cell := range whole.results.Cells {
			if cell.Solution == solution {
				cell.Solution = after
				one.results.Cells = append(one.results.Cells, cell)
			}
		}
		if len(one.results.Cells) == 0 {
			return nil, exit.Unmatched("run %s has no solution %q", whole.results.Run, solution)
		}
		if one.results, err = selection.Pick(one.results, selectors); err != nil {
			return nil, err
		}
		sides[i] = &one
	}
	return sides[0].differ(ctx, sides[1], nil)
}

// openSides reads both sides. If brief is set, it omits checkpoints that two runs of this project share, and
// returns their number.
func (c *Comparison) openSides(ctx context.Context, before, after string, brief bool) (a, b *side, shared int, err error) {
	o := c.Options
	if brief && isRun(o, before) && isRun(o, after) {
		var was, is *history.Record
		if was, is, shared, err = history.OpenPair(o.Records(), before, after); err != nil {
			return nil, nil, 0, err
		}
		return sideOf(o, was, ""), sideOf(o, is, ""), shared, nil
	}
	if a, err = c.openSide(ctx, before); err != nil {
		return nil, nil, 0, err
	}
	b, err = c.openSide(ctx, after)
	return a, b, 0, err
}

// differ compares two sides. For checkpoints where again returns true, it also determines whether they were
// judged again; nil means none.
func (s *side) differ(ctx context.Context, after *side, again func(name string) bool) (*report.Difference, error) {
	d := report.Differ(s.results, after.results)
	if s.name != "" {
		d.Before = s.name
	}
	if after.name != "" {
		d.After = after.name
	}
	d.LeaveOut(s.partial, after.partial)
	d.Explain(func(c *report.Change) string {
		name := plan.ResultCell(c.Cell).At(c.Is.Name).String()
		return cmp.Or(after.stale[name], s.stale[name])
	})
	if s.name == Now || after.name == Now { // only runs judge again
		again = nil
	}
	if again == nil && !d.HasCauses() {
		return d, nil
	}
	for _, one := range []*side{s, after} {
		end, err := one.openStore()
		if err != nil {
			return nil, err
		}
		defer end()
		if one.causes.Nodes == nil {
			return d, nil
		}
	}
	f, err := causes.NewFinder(s.causes, after.causes)
	if err == nil {
		err = f.Changes(ctx, d)
	}
	if err == nil && again != nil {
		changed := map[string]bool{}
		for i := range d.Changes {
			if c := &d.Changes[i]; c.Is != nil {
				changed[plan.ResultCell(c.Cell).At(c.Is.Name).String()] = true
			}
		}
		d.Again, err = f.Again(ctx, func(name string) bool { return changed[name] || !again(name) })
	}
	if err != nil {
		return nil, exit.Past(fmt.Errorf("finding causes: %w", err))
	}
	return d, nil
}

// openStore opens the store with the records of the side's nodes.
func (s *side) openStore() (end func(), err error) {
	switch {
	case s.name == Now:
		s.causes.Nodes = func(fn func(*causes.Row, []string)) error {
			return history.JudgedIn(s.results).Nodes(s.options.Records(), fn)
		}
	case s.record == nil:
		return func() {}, nil
	default:
		s.causes.Nodes = s.record.Nodes
	}
	s.causes.Store, end, err = stores.Past(s.options)
	return end, err
}
