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

// MergeRequest lists the runs to merge.
type MergeRequest struct {
	// Inputs are packs with the record of a run, and project directories, whose latest run is used. The store
	// must contain the outputs of the runs of directories.
	Inputs   []string
	Division string // file with the shards.Division of the runs, which lists all requested cells; "" without one
	Adopt    bool   // accept records of packs, regardless of their signature
	Policy   *verdict.Policy
	Progress event.Sink // can be nil
}

// Merge makes one run of the runs of shards. It executes only nodes that work in this process: others that no
// shard evaluated are broken, as is every cell of a missing shard.
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
