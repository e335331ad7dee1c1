package eval

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/compare"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/pages"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// Report gathers results and hands them to show as a page: of the named runs, the last of which
// it is about, or of the project as it is, with some runs before. A configuration with errors
// leaves the latest run in place of the project. The page is complete only within show: it
// reads the store.
func Report(ctx context.Context, o Options, runs []string, show func(*page.Page) error) error {
	store, end, err := stores.Past(&o)
	if err != nil {
		return err
	}
	defer end()
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	s := pages.Source{State: o.Records(), Store: store, Project: filepath.Base(dir), Version: o.Version}
	var present *pages.Present
	if len(runs) == 0 {
		var mistakes diag.List
		if present, err = presentPage(ctx, o); err != nil && !errors.As(err, &mistakes) {
			return err
		}
	}
	p, err := s.Gather(ctx, runs, present)
	if err != nil {
		return err
	}
	return show(p)
}

// ReportLogs hands a page of files of other programs to show: one run, without nodes.
func ReportLogs(o Options, logs *compare.Logs, selectors []string, show func(*page.Page) error) error {
	results, err := selection.Pick(logs.Results, selectors)
	if err != nil {
		return err
	}
	return show(pages.OfResults(logs.Of, o.Version, results, logs.Notes))
}

// presentPage returns the current results for a page, or nil without recorded runs.
func presentPage(ctx context.Context, o Options) (*pages.Present, error) {
	latest, err := event.FindRun(o.Records(), "latest")
	if errors.Is(err, event.ErrNoRuns) {
		return nil, nil
	}
	if err != nil {
		return nil, exit.Past(err)
	}
	results, stale, err := presentOf(ctx, o, latest.ID, false)
	if err != nil {
		return nil, err
	}
	return &pages.Present{Results: results, Stale: stale}, nil
}

// LatestRun is the run of a project that began last, which may go on; nil is none.
func LatestRun(o Options) (*event.Run, error) {
	ids, err := event.Runs(o.Records())
	for _, id := range slices.Backward(ids) {
		run := event.OpenRun(o.Records(), id)
		if start, ok := run.Start(); !ok || !start.AdHoc {
			return run, err
		}
	}
	return nil, err
}
