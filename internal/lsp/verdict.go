package lsp

import (
	"context"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/plan"
)

// verdicts caches the result of `status` on the files on disk.
type verdicts struct {
	mu    sync.Mutex
	asked time.Time
	all   []eval.CheckpointStatus
}

// shared is the lifetime of a cached result: clients ask after each key stroke.
const shared = 2 * time.Second

// lastVerdicts returns the last verdicts of the project, and whether they are up to date. It returns none for a
// project that was never run, without reading its files. It probes only backends that the project is trusted
// with.
func (p *project) lastVerdicts(ctx context.Context, again bool) ([]eval.CheckpointStatus, error) {
	p.verdicts.mu.Lock()
	defer p.verdicts.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !again && time.Since(p.verdicts.asked) < shared {
		return p.verdicts.all, nil
	}
	if err := p.options.CheckState(); err != nil {
		return nil, err
	}
	if runs, err := event.Runs(p.options.Records()); err == nil && len(runs) == 0 {
		return nil, nil
	}
	all, _, err := eval.Status(ctx, p.options, eval.Selection{})
	if err != nil {
		p.verdicts.all, p.verdicts.asked = nil, time.Time{}
		return nil, err
	}
	p.verdicts.all, p.verdicts.asked = all, time.Now()
	return all, nil
}

// byCell groups statuses by cell.
func byCell(all []eval.CheckpointStatus) map[plan.CellID][]*eval.CheckpointStatus {
	cells := map[plan.CellID][]*eval.CheckpointStatus{}
	for i := range all {
		id := all[i].Cell.Cell()
		cells[id] = append(cells[id], &all[i])
	}
	return cells
}
