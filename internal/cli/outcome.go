package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// outcome is what a run came to: the results of everything, or of a part, of which
// the whole is put together as far as somebody needs it.
type outcome struct {
	results *report.Results // of everything; nil until somebody needs them
	run     string
	encoded *report.Encoded // of everything; nil until somebody needs them
	table   *report.Table   // of everything; nil until it is drawn
	tally   *report.Tally   // of everything; nil until somebody needs it

	// Of a run of a part: the run whose results these are, but for the patches.
	after   string
	patches []event.Patch
}

// outcome is what the run came to, of which results are what it decided about.
func (p *project) outcome(results *report.Results) (*outcome, error) {
	if p.part == nil {
		return &outcome{results: results, run: results.Run}, nil
	}
	return p.part.outcome(results)
}

// whole are the results of everything.
func (o *outcome) whole() (*report.Results, error) {
	if o.results != nil {
		return o.results, nil
	}
	all := &report.Results{Schema: report.Schema, Run: o.run, Cells: make([]report.Cell, len(o.encoded.Cells))}
	for i := range all.Cells {
		cell, err := o.encoded.Cell(i)
		if err != nil {
			return nil, err
		}
		all.Cells[i] = *cell
	}
	o.results = all
	return all, nil
}

// summary sums everything up under a policy; nil is each checkpoint's own.
func (o *outcome) summary(policy *verdict.Policy) (report.Summary, error) {
	if policy == nil && o.tally != nil {
		return o.tally.Summary(), nil
	}
	all, err := o.whole()
	if err != nil {
		return report.Summary{}, err
	}
	return report.Summarize(all, policy), nil
}

// save writes the results into the run's record.
func (o *outcome) save(recorder *event.Recorder) (err error) {
	if o == nil {
		return nil
	}
	if o.after != "" {
		return recorder.SaveResultsSince(o.after, o.patches)
	}
	if o.encoded == nil {
		if o.encoded, err = report.Encode(o.results); err != nil {
			return err
		}
	}
	parts, err := o.encoded.Parts()
	if err != nil {
		return err
	}
	return recorder.SaveResults(parts...)
}

// draw writes everything as a table that later runs may amend.
func (o *outcome) draw(w io.Writer, color bool) error {
	if o.table == nil {
		all, err := o.whole()
		if err != nil {
			return err
		}
		if o.table = report.DrawTable(all, color); len(all.Cells) == 0 {
			return nil
		}
	}
	_, err := io.WriteString(w, o.table.Text)
	return err
}

// cellKey tells cells of a project apart.
func cellKey(cell *report.Cell) string {
	return verdictKey(cell.Problem, cell.Solution, cell.Backend, strconv.Itoa(cell.Repeat))
}

// outcome is the whole after a run of the part that came to results.
func (w *part) outcome(results *report.Results) (*outcome, error) {
	now := make(map[string]int, len(results.Cells))
	for i := range results.Cells {
		now[cellKey(&results.Cells[i])] = i
	}
	encoded, err := report.Encode(results)
	if err != nil {
		return nil, err
	}
	all := &report.Encoded{Run: results.Run, Cells: slices.Clone(w.results.last.Cells)}
	var changes []report.CellChange
	for _, was := range w.were {
		i, ok := now[cellKey(was.New)]
		if !ok || len(now) != len(w.were) {
			return nil, errors.New("bug in fevalgraph: a run of a part has other cells than the part")
		}
		all.Cells[was.Cell] = encoded.Cells[i]
		changes = append(changes, report.CellChange{Cell: was.Cell, Was: was.New, New: &results.Cells[i]})
	}
	o := &outcome{run: results.Run, encoded: all, after: w.of.Run, patches: w.patches(all)}
	table, drawn := w.table.Amended(changes)
	if o.tally = &table.Tally; drawn {
		o.table = table
	}
	return o, nil
}

// cellsWere finds what the cells of the part came to before, in the results of the
// run that is remembered.
func (w *part) cellsWere(from recorded) (err error) {
	if w.results, err = w.cellResults(from); err != nil {
		return err
	}
	for _, cell := range slices.Sorted(maps.Keys(w.cells)) {
		place := int(w.sources.Places[cell])
		was, err := w.results.last.Cell(place)
		if err != nil {
			return fmt.Errorf("what a cell came to: %w", err)
		}
		w.were = append(w.were, report.CellChange{Cell: place, New: was})
	}
	return nil
}
