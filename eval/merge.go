package eval

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
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
	parts, division, err := gather(ctx, &o, m)
	if err != nil {
		return nil, err
	}
	r := Request{Policy: m.Policy, Progress: m.Progress, merged: parts}
	if division != nil {
		r.Selection = division.Asked
	}
	return Run(ctx, o, r)
}

func gather(ctx context.Context, o *Options, m MergeRequest) (parts *shards.Merged, division *shards.Division, err error) {
	parts = shards.NewMerged()
	if m.Division != "" {
		if division, err = shards.ReadDivision(o.Path(m.Division)); err != nil {
			return nil, nil, exit.With(exit.Usage, fmt.Errorf("--shards %s: %w", m.Division, err))
		}
		parts.Divided(division.Shards)
	}
	var packs []string
	for _, input := range m.Inputs {
		if !isDirectory(o.Path(input)) {
			packs = append(packs, input)
		}
	}
	u, err := unpack(ctx, o, packs, m.Adopt)
	if err != nil {
		return nil, nil, err
	}
	if err := learn(o, u.seconds); err != nil {
		return nil, nil, err
	}
	if u.total.Foreign > 0 {
		o.Note(options.ForeignRecords{Count: u.total.Foreign})
	}
	for _, input := range m.Inputs {
		var extra map[string][]byte
		if dir := o.Path(input); isDirectory(dir) {
			if extra, err = latestIn(dir); err != nil {
				return nil, nil, exit.With(exit.Usage, err)
			}
		} else {
			extra, u.extra = u.extra[0], u.extra[1:]
		}
		if err := parts.Add(input, extra[packEvents], extra[packLogs]); err != nil {
			return nil, nil, exit.With(exit.Usage, err)
		}
	}
	return parts, division, nil
}

// latestIn is the record of the latest run of a project in a directory.
func latestIn(dir string) (map[string][]byte, error) {
	state := dir
	if isDirectory(filepath.Join(dir, options.StateName)) {
		state = filepath.Join(dir, options.StateName)
	}
	extra, err := mergeable(state, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return extra, nil
}

// isDirectory reports whether an input is the directory of a project.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
