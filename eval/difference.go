package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/eval/compare"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// Comparison compares results for a project: of past runs, or of the project as it is, which takes
// a valid configuration.
func Comparison(o Options) *compare.Comparison {
	return &compare.Comparison{Options: &o, Now: func(ctx context.Context) (*report.Results, map[string]string, error) { return resultsNow(ctx, o) }}
}

// resultsNow is what the project would have as it is now: verdicts that hold, and checkpoints that a
// run would judge, with why their verdicts no longer hold.
func resultsNow(ctx context.Context, o Options) (results *report.Results, stale map[string]string, err error) {
	run := ""
	if latest, err := event.FindRun(o.Records(), "latest"); err == nil {
		run = latest.ID
	}
	return presentOf(ctx, o, run, true)
}
