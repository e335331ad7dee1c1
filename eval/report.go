package eval

import (
	"context"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/eval/pages"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// Report gathers recorded runs and hands them to show as a page: the named ones, the last
// of which it is about, or the latest one and some before it. The page is complete only
// within show: it reads the store.
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
	s := pages.Source{State: o.StateDir(), Store: store, Project: filepath.Base(dir), Version: o.Version}
	p, err := s.Gather(ctx, runs)
	if err != nil {
		return err
	}
	return show(p)
}

// LatestRun is the run of a project that began last, which may go on; nil is none.
func LatestRun(o Options) (*event.Run, error) {
	ids, err := event.Runs(o.StateDir())
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return event.OpenRun(o.StateDir(), ids[len(ids)-1]), nil
}
