package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/report"
)

// sinceFile is beside unchangedFile, and holds what runs of a part found out after
// the run of everything that the latter is about. The files of that one stay as they
// are: what a run of a part writes is as large as the part, but for the table of
// everything that it showed.
const sinceFile = "since"

// since is that, but for the state of files.
type since struct {
	After []byte `json:"after"` // the Salt of the record that it amends
	Parts int    `json:"parts"` // how many runs of a part there were
	ending
	decided decided
}

// decided is what the cells came to that runs of a part decided about. Cells are
// numbered as in plan.Plan.Cells.
type decided struct {
	Cells   []int32          // ascending
	Outputs [][]cache.Output // of the nodes of these cells
	Table   *report.Table    // of everything, without its text, with which what the last run showed begins
	Drawn   int              // bytes of that text
}

// outputs are those of a cell; ok is false when nothing was decided about it.
func (d *decided) outputs(cell int) (outputs []cache.Output, ok bool) {
	i, ok := slices.BinarySearch(d.Cells, int32(cell))
	if !ok {
		return nil, false
	}
	return d.Outputs[i], true
}

// and is d, and what some cells, which are given in ascending order, came to later.
func (d *decided) and(cells []int, outputs [][]cache.Output) decided {
	all := map[int32][]cache.Output{}
	for i, cell := range d.Cells {
		all[cell] = d.Outputs[i]
	}
	for i, cell := range cells {
		all[int32(cell)] = outputs[i]
	}
	next := decided{Cells: slices.Sorted(maps.Keys(all))}
	for _, cell := range next.Cells {
		next.Outputs = append(next.Outputs, all[cell])
	}
	return next
}

const sinceMagic = "fevalgraph-since 1\n"

func (s *since) write(state string, snapshot *cache.Snapshot) error {
	encoded, err := json.Marshal(s)
	var cells []byte
	if err == nil {
		cells, err = frozen.Append(nil, &s.decided)
	}
	if err == nil {
		err = writeRemembered(filepath.Join(state, sinceFile), sinceMagic, snapshot, encoded, []byte(s.Shown), cells)
	}
	if err != nil {
		return fmt.Errorf("writing down what the run of a part found out: %w", err)
	}
	return nil
}

func decodeSince(b []byte) (*since, *cache.Snapshot, error) {
	sections, snapshot, err := splitRemembered(b, sinceMagic, 3)
	if err != nil {
		return nil, nil, err
	}
	s := new(since)
	if json.Unmarshal(sections[0], s) != nil || frozen.Decode(string(sections[2]), &s.decided) != nil || !s.decided.sound() {
		return nil, nil, errBadUnchanged
	}
	s.Shown = string(sections[1])
	return s, snapshot, nil
}

func (d *decided) sound() bool {
	return d.Table != nil && len(d.Cells) == len(d.Outputs) && slices.IsSorted(d.Cells) && len(slices.Compact(slices.Clone(d.Cells))) == len(d.Cells)
}

// readSince reads what runs of a part found out after the one that u is about; nil
// when there was none.
func readSince(state string, u *unchanged) (*since, *cache.Snapshot, error) {
	b, err := os.ReadFile(filepath.Join(state, sinceFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	s, snapshot, err := decodeSince(b)
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(s.After, u.Salt) { // of an older record
		return nil, nil, nil
	}
	return s, snapshot, nil
}
