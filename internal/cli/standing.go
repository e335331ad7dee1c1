package cli

import (
	"path/filepath"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/view"
)

// statusFile is beside unchangedFile, and holds what status shows while nothing
// changed.
const statusFile = "status"

// freshRows are the rows of a cell in a status to which everything is fresh.
func freshRows(cell *report.Cell) []view.StatusRow {
	rows := make([]view.StatusRow, len(cell.Checkpoints))
	for i := range cell.Checkpoints {
		c := &cell.Checkpoints[i]
		rows[i] = view.StatusRow{Problem: cell.Problem, Checkpoint: c.Name, Solution: cell.Solution, Backend: cell.Backend, State: "fresh"}
		judgedRow(&rows[i], c)
	}
	return rows
}

// status draws the status of everything. Places are those of the cells in results.
func (o *outcome) status(places []int32, color bool) (*view.StatusDrawing, error) {
	all, err := o.whole()
	if err != nil {
		return nil, err
	}
	var rows []view.StatusRow
	for _, place := range places {
		rows = append(rows, freshRows(&all.Cells[place])...)
	}
	return view.DrawStatus(rows, color), nil
}

// statusRows is the first row of each cell in the status; false when a row is not
// what the graph says.
func (p *project) statusRows(results *report.Results, places []int32) (first []int32, ok bool) {
	next := int32(0)
	for i, cell := range p.plan.Cells {
		judged := results.Cells[places[i]].Checkpoints
		if len(judged) != len(cell.Checkpoints) || len(cell.Problem.Invalid) > 0 {
			return nil, false
		}
		for j := range judged {
			if judged[j].Name != cell.Checkpoints[j].Checkpoint.Name {
				return nil, false
			}
		}
		first = append(first, next)
		next += int32(len(judged))
	}
	return first, true
}

// statusSince is the status while nothing changed after the last run. The text is
// that after the run of everything.
func (p *project) statusSince(m *memory, results recorded, text string) (string, bool) {
	if m.since == nil {
		return text, true
	}
	w, ok := p.knownPart(m)
	if !ok || w.known.Status == nil || w.sources.Rows == nil || w.cellsWere(results) != nil {
		return "", false
	}
	var changes []view.StatusChange
	for _, cell := range m.since.decided.Cells {
		place := int(w.sources.Places[cell])
		was, err := w.results.whole.Cell(place)
		if err != nil {
			return "", false
		}
		now, err := w.results.last.Cell(place)
		if err != nil {
			return "", false
		}
		before, after := freshRows(was), freshRows(now)
		if len(before) != len(after) {
			return "", false
		}
		for i := range after {
			changes = append(changes, view.StatusChange{Row: int(w.sources.Rows[cell]) + i, Was: before[i], New: after[i]})
		}
	}
	w.known.Status.Text = text
	next, ok := w.known.Status.Amended(changes)
	if !ok {
		return "", false
	}
	return next.Text, true
}

// writeStatus writes the status down, and leaves its text out of d.
func writeStatus(state string, d *view.StatusDrawing) (sum []byte, err error) {
	content := d.Text
	if d.Text = ""; !utf8.ValidString(content) {
		return nil, nil // it may not be what is read back from results
	}
	return writeSummed(filepath.Join(state, statusFile), []byte(content))
}
