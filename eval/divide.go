package eval

import (
	"context"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/shards"
)

// Divide plans like Plan, and divides the stale cells into count shards. With a count of 0, it makes as many
// shards as needed for each to take target.
func Divide(ctx context.Context, o Options, r Request, count int, target time.Duration) (*shards.Division, error) {
	f, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer f.call.close()
	g, err := f.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	g.noteInvalid()
	x, err := g.decide(ctx, false)
	if err != nil {
		return nil, err
	}
	d := shards.NewDivision(r.Selection, target.Seconds(), o.RunJobs(), g.countCells())
	d.Divide(g.project.Plan, g.targets, x.rep, count)
	return d, nil
}
