package cli

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// recorded are the results of a run as its record has them: see
// event.Run.PatchedResults.
type recorded struct {
	results []byte
	patches []event.Patch
}

func recordedIn(run *event.Run) (r recorded, err error) {
	r.results, r.patches, err = run.PatchedResults()
	return r, err
}

// cellResults are the results that are remembered, cell by cell. Cells are in the
// order of the results.
type cellResults struct {
	whole   *report.Encoded // of the run of everything
	offsets []int64         // of the cells in these
	last    *report.Encoded // of the last run
	patched []int           // cells of which last has others than whole, ascending
}

// cellResults takes the results of the run that is remembered apart.
func (w *part) cellResults(from recorded) (*cellResults, error) {
	whole, err := report.SplitEncoded(from.results, w.of.whole.Run, w.known.Sizes)
	if err != nil {
		return nil, err
	}
	c := &cellResults{whole: whole}
	if c.offsets, err = whole.Offsets(); err != nil {
		return nil, err
	}
	c.last = &report.Encoded{Run: w.of.Run, Cells: slices.Clone(whole.Cells)}
	for _, p := range from.patches {
		place, ok := slices.BinarySearch(c.offsets, p.At)
		if !ok || p.Size != int64(len(whole.Cells[place])) {
			return nil, errBadUnchanged
		}
		c.patched, c.last.Cells[place] = append(c.patched, place), p.By
	}
	if decided, ok := w.decidedPlaces(); !ok || !slices.Equal(c.patched, decided) {
		return nil, errBadUnchanged
	}
	return c, nil
}

// decidedPlaces are those in the results of the cells that earlier runs of a part
// decided about, ascending. It is false when there is no such cell.
func (w *part) decidedPlaces() (places []int, ok bool) {
	if w.of.since == nil {
		return nil, true
	}
	for _, cell := range w.of.since.decided.Cells {
		if int(cell) < 0 || int(cell) >= len(w.sources.Places) {
			return nil, false
		}
		places = append(places, int(w.sources.Places[cell]))
	}
	slices.Sort(places)
	return places, true
}

// patches are what take the place of cells in the results of the run of everything,
// after a run of the part that came to last.
func (w *part) patches(last *report.Encoded) []event.Patch {
	c := w.results
	all := slices.Clone(c.patched)
	for _, was := range w.were {
		all = append(all, was.Cell)
	}
	slices.Sort(all)
	var patches []event.Patch
	for _, place := range slices.Compact(all) {
		patches = append(patches, event.Patch{At: c.offsets[place], Size: int64(len(c.whole.Cells[place])), By: last.Cells[place]})
	}
	return patches
}
