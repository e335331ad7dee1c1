package eval

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/packs"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// MergeRequest says which runs become one.
type MergeRequest struct {
	// Inputs are packs with the record of a run, and directories of projects, whose latest
	// runs are meant. What directories' runs made has to be in the store.
	Inputs   []string
	Division string // file with the shards.Division that the runs have shards of, which says what is asked for; "" if they have none
	Adopt    bool   // records of packs count whoever signed them
	Policy   *verdict.Policy
	Progress event.Sink // may be nil
}

// Merge makes one run of those that evaluated shards. It runs nothing but sums: what no
// shard evaluated is broken, and so is every cell of a shard that did not report.
func Merge(ctx context.Context, o Options, m MergeRequest) (*Outcome, error) {
	parts := shards.NewMerged()
	r := Request{Policy: m.Policy, Progress: m.Progress, merged: parts}
	if m.Division != "" {
		division, err := shards.ReadDivision(o.Path(m.Division))
		if err != nil {
			return nil, exit.With(exit.Usage, fmt.Errorf("--shards %s: %w", m.Division, err))
		}
		parts.Divided(division.Shards)
		r.Selection = division.Asked
	}
	if err := packs.Gather(ctx, &o, parts, m.Inputs, m.Adopt); err != nil {
		return nil, err
	}
	return Run(ctx, o, r)
}
