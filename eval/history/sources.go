package history

import (
	"errors"
	"io/fs"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Sources returns the runs, among ids in order from the latest, that contain the last result of a checkpoint,
// or its last verdict if a later run did not begin it. It includes unreadable and unproven runs, which can
// contain one.
func Sources(state event.Records, ids []string) (map[string]bool, error) {
	type result struct {
		of    plan.CellID
		began bool
	}
	needed, files, found := map[string]bool{}, map[string]bool{}, map[result]bool{}
	for _, id := range ids {
		run := event.OpenRun(state, id)
		if _, err := run.Manifest(); errors.Is(err, fs.ErrNotExist) {
			continue // no results
		}
		cells, err := Cells(state, run, files)
		var damaged *event.DamagedError
		var foreign *event.ForeignError
		if errors.As(err, &damaged) || errors.As(err, &foreign) {
			needed[id] = true
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range cells {
			for _, c := range cells[i].Listed() {
				of := plan.ResultCell(&cells[i]).At(c.Name)
				for _, r := range []result{{of, false}, {of, c.Class != verdict.NotRun}} {
					needed[id] = needed[id] || !found[r]
					found[r] = true
				}
			}
		}
	}
	return needed, nil
}
