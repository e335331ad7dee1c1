package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/eval/compare"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// Comparison compares results of a project: of past runs or, given a valid configuration, of its current state.
func Comparison(o Options) *compare.Comparison {
	return &compare.Comparison{Options: &o, Now: func(ctx context.Context) (*report.Results, map[string]string, error) { return resultsNow(ctx, o) }}
}

// resultsNow returns the results for the current state of the project: verdicts that are up to date, and
// checkpoints that a run would judge, with the cause.
func resultsNow(ctx context.Context, o Options) (results *report.Results, stale map[string]string, err error) {
	run := ""
	if latest, err := event.FindRun(o.Records(), "latest"); err == nil {
		run = latest.ID
	}
	return presentOf(ctx, o, run, false)
}
