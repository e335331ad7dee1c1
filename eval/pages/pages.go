// Package pages gathers what runs recorded for a report: results, what became of them, and
// for each cell the nodes that made it, with manifests, logs and causes. Nothing is
// evaluated.
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
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// Compared is how many runs before the latest a report has that names none.
const Compared = 4

// Source is where a report comes from.
type Source struct {
	State   string // the state directory of the project
	Store   cache.Store
	Project string // its name for people
	Version string // of the program
}

// Gather reads the named runs, the last of which the report is about; without names, the
// latest one with results and up to Compared before it.
func (s *Source) Gather(ctx context.Context, names []string) (*page.Page, error) {
	runs, err := s.runs(names)
	if err != nil {
		return nil, exit.Past(err)
	}
	p := &page.Page{Project: s.Project, Version: s.Version, Runs: runs, Words: selection.VerdictWords}
	last := &runs[len(runs)-1]
	for i := range runs[:len(runs)-1] {
		d := report.Differ(runs[i].Results, last.Results)
		if err := causes.Find(ctx, s.side(runs[i].ID), s.side(last.ID), d); err != nil {
			return nil, exit.Past(err)
		}
		runs[i].Difference = d
	}
	made, err := s.nodesOf(event.OpenRun(s.State, last.ID), last)
	if err != nil {
		return nil, exit.Past(err)
	}
	p.Work = made.work
	p.Nodes = func(cell *report.Cell) ([]page.Node, error) { return made.of(ctx, cell) }
	return p, nil
}

// side is a run as far as causes need it.
func (s *Source) side(run string) causes.Side {
	return causes.Side{Store: s.Store, Nodes: func(fn func(*graph.Row)) error {
		record, err := history.Open(s.State, run)
		if err != nil {
			return err
		}
		return record.Nodes(fn)
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

// latest are the latest run with results and those before it.
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
		r, err := s.run(event.OpenRun(s.State, id))
		if err != nil { // it goes on, ended without results, or is damaged
			first = cmp.Or(first, err)
			continue
		}
		if all = append(all, *r); len(all) > Compared {
			break
		}
	}
	slices.Reverse(all)
	if len(all) == 0 {
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
		r.Start, r.Selection = start.Time, start.Selection
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
