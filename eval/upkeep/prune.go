package upkeep

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
)

// PruneRequest selects the records of runs to remove: those that are not among the last Keep, and that began
// more than OlderThan ago.
type PruneRequest struct {
	Keep      int
	OlderThan time.Duration
	DryRun    bool // remove nothing
}

// Pruned counts what was removed, or would be.
type Pruned struct {
	Removed []string `json:"removed"` // runs, from the latest on
	Needed  []string `json:"needed"`  // selected runs that stay: they are running, or contain the last results of some checkpoints or tasks
	Runs    int      `json:"runs"`    // run records before
	Bytes   int64    `json:"bytes"`   // size of records, and of partition files that nothing else uses
}

// Prune removes records of old runs, except runs with the last result of a checkpoint, and files that only
// they use; and, apart from these, records of old calls of gen. Pruned counts removals before an error, too.
func Prune(ctx context.Context, o options.Options, r PruneRequest) (*Pruned, error) {
	now := time.Now()
	if err := options.CheckOwner(o.StateDir()); err != nil {
		return &Pruned{}, exit.With(exit.Usage, err)
	}
	p, err := prune(ctx, &o, r, now)
	if err == nil {
		err = pruneCalls(ctx, o.RecordsIn(options.AnswersDir(o.StateDir()), false), r, now, p)
	}
	if err != nil {
		return p, exit.With(exit.NotJudged, err)
	}
	return p, nil
}

func prune(ctx context.Context, o *options.Options, r PruneRequest, now time.Time) (*Pruned, error) {
	state := o.Records()
	p := &Pruned{Removed: []string{}, Needed: []string{}}
	ids, err := event.Runs(state)
	if err != nil || len(ids) == 0 {
		return p, err
	}
	slices.Reverse(ids)
	p.Runs = len(ids)
	keep, err := mayGo(state, ids, r, now, p)
	if err != nil {
		return p, err
	}
	if err := p.remove(ctx, state.Dir, p.Removed, r.DryRun); err != nil {
		return p, err
	}
	swept, err := sweepPartitions(o, keep, now, r.DryRun)
	p.Bytes += swept
	return p, err
}

// remove removes records.
func (p *Pruned) remove(ctx context.Context, state string, ids []string, dry bool) error {
	for _, id := range ids {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		dir := filepath.Join(state, "runs", id)
		p.Bytes += sizeOf(dir)
		if dry {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// longestCall is the age up to which a call of gen without an end counts as running.
const longestCall = 7 * 24 * time.Hour

// pruneCalls removes the records of calls of gen that are in a directory of answers.
func pruneCalls(ctx context.Context, answers event.Records, r PruneRequest, now time.Time, p *Pruned) error {
	ids, err := event.Runs(answers)
	if err != nil {
		return err
	}
	slices.Reverse(ids)
	p.Runs += len(ids)
	var old []string
	for i, id := range ids {
		run := event.OpenRun(answers, id)
		start, _ := run.Start()
		_, ended, err := run.End()
		if err != nil {
			return err
		}
		age := now.Sub(start.Time)
		if i >= max(r.Keep, 1) && age >= r.OlderThan && (ended || age > longestCall) {
			old = append(old, id)
		}
	}
	p.Removed = append(p.Removed, old...)
	return p.remove(ctx, answers.Dir, old, r.DryRun)
}

// mayGo divides runs, given the latest first, into those to remove and those to keep.
func mayGo(state event.Records, ids []string, r PruneRequest, now time.Time, p *Pruned) (keep []string, err error) {
	var old []string
	for i, id := range ids {
		start, _ := event.OpenRun(state, id).Start()
		if i < max(r.Keep, 1) || now.Sub(start.Time) < r.OlderThan {
			keep = append(keep, id)
		} else {
			old = append(old, id)
		}
	}
	if len(old) == 0 {
		return keep, nil
	}
	needed := history.FindLast(state, ids, nil, nil).Runs
	if latest, err := event.FindRun(state, "latest"); err == nil {
		needed[latest.ID] = true
	}
	for _, id := range old {
		living, err := backend.Living(kind.SessionsDir(state.Dir), id)
		switch {
		case err != nil:
			return nil, err
		case living || needed[id]:
			p.Needed = append(p.Needed, id)
		default:
			p.Removed = append(p.Removed, id)
		}
	}
	return append(keep, p.Needed...), nil
}

// sizeOf returns the total size in bytes of the files below a directory.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // ignore unreadable files
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
