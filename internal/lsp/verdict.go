package lsp

import (
	"context"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/plan"
)

// verdicts are what `status` says of what is on disk.
type verdicts struct {
	mu    sync.Mutex
	asked time.Time
	all   []eval.CheckpointStatus
}

// shared is for how long what was decided is shown again: clients ask after each key stroke.
const shared = 2 * time.Second

// decided are the last verdicts of the project, and whether they hold; none of a project that
// was never run, whose files need not be read to know that. It asks no backend that the project
// is not trusted to have asked.
func (p *project) decided(ctx context.Context, again bool) ([]eval.CheckpointStatus, error) {
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

// byCell are statuses by what they are about.
func byCell(all []eval.CheckpointStatus) map[plan.CellID][]*eval.CheckpointStatus {
	cells := map[plan.CellID][]*eval.CheckpointStatus{}
	for i := range all {
		id := all[i].Cell.Cell()
		cells[id] = append(cells[id], &all[i])
	}
	return cells
}
