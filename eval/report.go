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

// Report collects results and calls show with a page: about the last of the named runs, or about the current
// project with some earlier runs. If the configuration has errors, it uses the latest run instead of the
// project. The page reads the store, so it is valid only until show returns.
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

// ReportLogs calls show with a page of other programs' files: one run, without nodes.
func ReportLogs(o Options, logs *compare.Logs, selectors []string, show func(*page.Page) error) error {
	results, err := selection.Pick(logs.Results, selectors)
	if err != nil {
		return err
	}
	return show(pages.OfResults(logs.Of, o.Version, results, logs.Remarks()))
}

// presentPage returns the current results for a page, or nil if no run is recorded.
func presentPage(ctx context.Context, o Options) (*pages.Present, error) {
	latest, err := event.FindRun(o.Records(), "latest")
	if errors.Is(err, event.ErrNoRuns) {
		return nil, nil
	}
	if err != nil {
		return nil, exit.Past(err)
	}
	results, stale, err := presentOf(ctx, o, latest.ID, true)
	if err != nil {
		return nil, err
	}
	return &pages.Present{Results: results, Stale: stale}, nil
}

// LatestRun returns the run of a project that began last, which can still be running, or nil.
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
