package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/view"
)

// Commands that only read decide about no more than what may have changed since a
// run that is remembered, as long as that is all that is needed for what they
// show. Each of these functions reports whether it showed it; if not, nothing was
// shown, and everything has to be decided.

// recallPlan is plan about everything, shown as text.
func (a *app) recallPlan(ctx context.Context, check bool) (done bool, err error) {
	p, m := a.recall(time.Now(), reading)
	if m == nil {
		return false, nil
	}
	defer p.close()
	files, ok := p.changed(ctx, m)
	if !ok {
		return false, nil
	}
	if len(files) == 0 {
		if !a.flags.quiet {
			view.Plan(a.io.Out, nil, m.Nodes, m.Nodes, nil, 0, 0, a.color(), false)
		}
		return true, nil
	}
	rep, ok := p.decidePart(ctx, m, files)
	if !ok || !p.estimated(rep) {
		return false, nil
	}
	if err := p.showPlan(rep, nil, m.Nodes-len(rep.Nodes)); err != nil {
		return true, err
	}
	return true, planned(rep, check)
}

// decidePart decides about all nodes of the cells that depend on source files
// that changed, and about their suites.
func (p *project) decidePart(ctx context.Context, m *memory, files []string) (*graph.Report, bool) {
	if p.openPart(m, files) == nil {
		return nil, false
	}
	targets, err := p.targets(ctx, selection{})
	if err != nil {
		return nil, false
	}
	rep, err := p.dryRun(ctx, evaluation{targets: targets})
	return rep, err == nil
}

// estimated reports whether what nodes are expected to take is known of each of
// them, and is not a mean of all nodes.
func (p *project) estimated(rep *graph.Report) bool {
	for _, id := range rep.Nodes {
		if last, ok := p.log.Get(p.plan.Graph.Node(id).Addr); rep.Status(id).Expected > 0 && (!ok || last.Seconds <= 0) {
			return false
		}
	}
	return true
}

// recallStatus is status of everything, if the latest run came to what the
// remembered one did. As long as nothing changed, what it shows is remembered, too.
func (a *app) recallStatus(ctx context.Context) (done bool, err error) {
	p, m := a.recall(time.Now(), reading)
	if m == nil || m.Status == nil {
		return false, nil
	}
	defer p.close()
	var results recorded
	var status string
	files, ok := p.changed(ctx, m, func() error {
		latest, err := event.FindRun(p.state, "latest")
		if err == nil {
			err = latest.SameResults(m.Run)
		}
		if err == nil {
			results, err = recordedIn(latest)
		}
		return err
	}, func() (err error) {
		status, err = readSummed(filepath.Join(p.state, statusFile), m.Status)
		return err
	})
	if !ok {
		return false, nil
	}
	if len(files) == 0 && m.Color == a.color() && !a.flags.json {
		if text, ok := p.statusSince(m, results, status); ok {
			_, err = io.WriteString(a.io.Out, text)
			return true, err
		}
	}
	rows, ok := p.partialStatus(ctx, m, results, files)
	if !ok {
		return false, nil
	}
	return true, a.showStatus(rows)
}

// partialStatus decides about the cells that depend on some files, which may be
// none; all others are fresh.
func (p *project) partialStatus(ctx context.Context, m *memory, results recorded, files []string) ([]view.StatusRow, bool) {
	var rep *graph.Report
	if len(files) > 0 {
		var ok bool
		if rep, ok = p.decidePart(ctx, m, files); !ok {
			return nil, false
		}
	} else {
		var ok bool
		if p.part, ok = p.knownPart(m); !ok {
			return nil, false
		}
	}
	if p.part.sources.Rows == nil || p.part.cellsWere(results) != nil {
		return nil, false
	}
	decided := map[int32]*plan.Cell{} // by place
	for i, was := range p.part.were {
		decided[int32(was.Cell)] = p.plan.Cells[i]
	}
	var rows []view.StatusRow
	for _, place := range p.part.sources.Places {
		known, err := p.part.results.last.Cell(int(place))
		if err != nil {
			return nil, false
		}
		of := freshRows(known)
		if cell := decided[place]; cell != nil {
			if len(of) != len(cell.Checkpoints) {
				return nil, false
			}
			for i, cc := range cell.Checkpoints {
				rowState(&of[i], rep, cc)
			}
		}
		rows = append(rows, of...)
	}
	return rows, true
}

// recallExplanation is explain about a node with the given address. It needs only
// that the configuration would be the same: about the node, and what that needs,
// it decides as ever.
func (a *app) recallExplanation(ctx context.Context, addr string) (done bool, err error) {
	p, m := a.recall(time.Now(), reading)
	if m == nil || m.Configuration == nil {
		return false, nil
	}
	defer p.close()
	blobs := m.Store + string(filepath.Separator)
	inputs := m.snapshot.Without(func(path string, file bool) bool { return file || strings.HasPrefix(path, blobs) })
	if inputs.Changed(ctx) != "" {
		return false, nil
	}
	cfg, err := a.configuration(p.state, m.unchanged)
	if err != nil {
		return false, nil //nolint:nilerr // it is evaluated anew
	}
	cells := plan.CellsAbout(cfg, addr)
	if !p.openCells(cfg, &plan.Part{Wanted: func(cell int) bool { return cells[cell] }}) {
		return false, nil
	}
	id, ok := p.plan.Graph.Lookup(addr)
	if !ok {
		return false, nil
	}
	rep, err := p.dryRun(ctx, evaluation{targets: []graph.ID{id}})
	if err != nil {
		return false, nil //nolint:nilerr // deciding about everything says what is wrong
	}
	return true, a.showExplanation(p.explanation(ctx, rep, id))
}
