// Package pages collects recorded data for a report: results, changes, and for each cell the nodes that
// produced it, with manifests, logs and causes. It evaluates nothing.
package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/causes"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// Compared is the number of earlier runs in a report without named runs.
const Compared = 4

// Remembered is the number of runs before those for figures over runs. mostRemembered limits their total number
// of cells.
const (
	Remembered     = 20
	mostRemembered = 200_000
)

// Source is the origin of a report.
type Source struct {
	State   event.Records // records of the project
	Store   cache.Store
	Project string // display name
	Version string // version of fevalgraph
}

// Now names the current state of the project instead of a run.
const Now = "now"

// Present holds the known results of the project in its current state.
type Present struct {
	Results *report.Results   // named after the latest run; checkpoints judged by another run name it
	Stale   map[string]string // causes of stale verdicts, by checkpoint name
}

// Gather reads the named runs; the report is about the last one. Without names it is about the current project
// or, if present is nil, about the latest run with results, and includes up to Compared runs before it.
func (s *Source) Gather(ctx context.Context, names []string, present *Present) (*page.Page, error) {
	runs, err := s.runs(names)
	if err != nil {
		return nil, exit.Past(err)
	}
	latest := runs[len(runs)-1].ID
	if present != nil && len(names) == 0 && !present.coversPresent(runs[len(runs)-1].Results) {
		runs = append(runs[max(len(runs)-Compared, 0):], page.Run{ID: Now, Results: present.Results})
	}
	p := &page.Page{Project: s.Project, Version: s.Version, Runs: runs, Words: selection.VerdictWords}
	if len(names) == 0 {
		if p.Before, err = s.earlierRuns(ctx, &runs[0]); err != nil {
			return nil, exit.Past(err)
		}
	}
	last := &runs[len(runs)-1]
	for i := range runs[:len(runs)-1] {
		d := report.Differ(runs[i].Results, last.Results)
		d.Before, d.After = runs[i].ID, last.ID
		d.LeaveOut(runs[i].Partial, last.Partial)
		if last.ID == Now {
			d.Explain(func(c *report.Change) string { return present.Stale[plan.ResultCell(c.Cell).At(c.Is.Name).String()] })
		}
		if err := s.explain(ctx, &runs[i], last, d); err != nil {
			return nil, exit.Past(err)
		}
		runs[i].Difference = d
	}
	for i := 1; i < len(runs); i++ {
		if runs[i].Step, err = s.step(ctx, &runs[i-1], &runs[i]); err != nil {
			return nil, exit.Past(err)
		}
	}
	made, err := s.nodesOf(last)
	if err != nil {
		return nil, exit.Past(err)
	}
	if p.Work, err = workOf(event.OpenRun(s.State, latest)); err != nil {
		return nil, exit.Past(err)
	}
	p.Nodes = func(cell *report.Cell) ([]page.Node, error) { return made.ofCell(ctx, cell) }
	p.Sources = made.sources
	p.Tree = func(id string) (*page.Tree, error) { return made.tree(ctx, id) }
	return p, nil
}

// OfResults returns a page about results of other programs, with notes on their files.
func OfResults(name, version string, results *report.Results, notes []string) *page.Page {
	return &page.Page{Project: name, Version: version, Foreign: true, Notes: notes, Words: selection.VerdictWords, Runs: []page.Run{{ID: name, Results: results, Ended: true}},
		Nodes: func(*report.Cell) ([]page.Node, error) { return nil, nil }}
}

// step returns the difference from a run to the next one, with causes.
func (s *Source) step(ctx context.Context, before, after *page.Run) (*report.Difference, error) {
	if before.Difference != nil && before.Difference.After == after.ID {
		return before.Difference, nil
	}
	d := report.Differ(before.Results, after.Results)
	d.Before, d.After = before.ID, after.ID
	d.LeaveOut(before.Partial, after.Partial)
	return d, s.explain(ctx, before, after, d)
}

// coversPresent reports whether a run judged or served every verdict of the present results, and all are up to date.
func (p *Present) coversPresent(run *report.Results) bool {
	if run.Run != p.Results.Run || len(run.Cells) != len(p.Results.Cells) || len(run.Tasks) != len(p.Results.Tasks) ||
		slices.ContainsFunc(p.Results.Tasks, func(t report.Task) bool { return t.Run != "" || t.State != "" }) {
		return false
	}
	for i := range run.Cells {
		had, has := &run.Cells[i], &p.Results.Cells[i]
		if plan.ResultCell(had) != plan.ResultCell(has) || len(had.Checkpoints) != len(has.Checkpoints) ||
			slices.ContainsFunc(has.Checkpoints, func(c report.Checkpoint) bool { return c.Run != "" || c.State != "" }) {
			return false
		}
	}
	return true
}

// explain determines the causes of a difference, if d is not nil.
func (s *Source) explain(ctx context.Context, before, after *page.Run, d *report.Difference) error {
	if !d.HasCauses() {
		return nil
	}
	f, err := causes.NewFinder(s.side(before), s.side(after))
	if err != nil {
		return err
	}
	return f.Changes(ctx, d)
}

// side returns the nodes of a run, or of the present results, for finding causes.
func (s *Source) side(of *page.Run) causes.Side {
	return causes.Side{Store: s.Store, Nodes: func(fn func(*graph.Row, []string)) error {
		return history.JudgedIn(of.Results).Nodes(s.State, fn)
	}}
}

func (s *Source) runs(names []string) ([]page.Run, error) {
	if len(names) == 0 {
		return s.latest()
	}
	var all []page.Run
	for _, name := range names {
		found, err := event.FindRun(s.State, name)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		r, err := s.run(found)
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all, nil
}

// earlierRuns returns the runs with results before a run, for figures over runs, and sets the run's step.
func (s *Source) earlierRuns(ctx context.Context, first *page.Run) ([]report.HistoryPoint, error) {
	ids, err := event.Runs(s.State)
	if err != nil {
		return nil, err
	}
	var all []report.HistoryPoint
	after, cells := first, len(first.Results.Cells)
	var step **report.Difference = &first.Step
	for _, id := range slices.Backward(ids) {
		if id >= first.ID || len(all) == Remembered || cells > mostRemembered {
			continue
		}
		found := event.OpenRun(s.State, id)
		if start, ok := found.Start(); ok && start.AdHoc {
			continue
		}
		r, err := s.run(found)
		if err != nil { // ended without results, or damaged
			continue
		}
		if *step, err = s.step(ctx, r, after); err != nil {
			return nil, err
		}
		all = append(all, report.NewHistoryPoint(r.ID, r.Results, nil))
		after, step, cells = r, &all[len(all)-1].Step, cells+len(r.Results.Cells)
	}
	slices.Reverse(all)
	return all, nil
}

// latest returns the latest run with results and those before it.
func (s *Source) latest() ([]page.Run, error) {
	ids, err := event.Runs(s.State)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, event.ErrNoRuns
	}
	var all []page.Run
	var first error
	for _, id := range slices.Backward(ids) {
		found := event.OpenRun(s.State, id)
		if start, ok := found.Start(); ok && start.AdHoc {
			continue
		}
		r, err := s.run(found)
		if err != nil { // running, ended without results, or damaged
			first = cmp.Or(first, err)
			continue
		}
		if all = append(all, *r); len(all) > Compared {
			break
		}
	}
	slices.Reverse(all)
	switch {
	case len(all) == 0 && first == nil:
		return nil, event.ErrNoRuns
	case len(all) == 0:
		return nil, fmt.Errorf("%w: %w", page.ErrNoResults, first)
	}
	return all, nil
}

func (s *Source) run(found *event.Run) (*page.Run, error) {
	results, err := history.Results(s.State, found.ID)
	if err != nil {
		return nil, err
	}
	r := &page.Run{ID: found.ID, Results: results}
	if start, ok := found.Start(); ok {
		r.Start, r.Selection, r.Partial = start.Time, start.Selection, start.Partial
	}
	end, ended, err := found.End()
	if ended && err == nil {
		r.Ended, r.Seconds, r.Executed, r.Cached, r.Exit = true, end.Seconds, end.Executed, end.Cached, end.Exit
	}
	var damaged *event.DamagedError
	if errors.As(err, &damaged) {
		return nil, err
	}
	return r, nil
}
