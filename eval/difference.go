package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/eval/causes"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/report"
)

// Differ compares the results of two recorded runs of a project, or of a part of them, and
// finds out what each change comes from.
func Differ(ctx context.Context, o Options, before, after *report.Results) (*report.Difference, error) {
	store, end, err := pastStore(&o)
	if err != nil {
		return nil, err
	}
	defer end()
	d := report.Differ(before, after)
	if err := causes.Find(ctx, o.StateDir(), store, d); err != nil {
		return nil, exit.Past(err)
	}
	return d, nil
}
