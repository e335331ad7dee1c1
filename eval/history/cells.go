package history

import (
	"bytes"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/report"
)

// readDifferent reads the results of two runs, except some partitions and cells whose results are equal but for
// measurements, since decoding takes most of the time. shared is the number of omitted checkpoints.
func (r *Record) readDifferent(after *Record, files [2][]string, both []string) (shared int, err error) {
	skip := map[string]bool{}
	for _, name := range both {
		skip[name] = true
	}
	for i := range files {
		files[i] = slices.DeleteFunc(slices.Clone(files[i]), func(name string) bool { return skip[name] })
	}
	if len(files[0]) != len(files[1]) { // cannot be paired
		if err = r.read(both); err == nil {
			err = after.read(both)
		}
		return 0, err
	}
	pairs := make([]filePair, len(files[0]))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range pairs {
		group.Go(func() error { return pairs[i].read([2]*Record{r, after}, [2]string{files[0][i], files[1][i]}) })
	}
	if err := group.Wait(); err != nil {
		return 0, exit.Past(err)
	}
	for side, record := range [2]*Record{r, after} {
		record.files = slices.Sorted(slices.Values(files[side]))
		record.Results = &report.Results{Schema: report.Schema, Run: record.Run.ID, Cells: []report.Cell{}}
		for i := range pairs {
			record.Results.Cells = append(record.Results.Cells, pairs[i].cells[side]...)
		}
		if err := record.readTasks(); err != nil {
			return 0, err
		}
	}
	for i := range pairs {
		shared += pairs[i].shared
	}
	return shared, nil
}

// filePair is two partition files, usually of the same partition, whose differing cells are read.
type filePair struct {
	cells  [2][]report.Cell
	shared int // checkpoints of equal cells
}

func (p *filePair) read(records [2]*Record, files [2]string) error {
	var texts [2][][]byte
	var checkpoints []int
	for side, record := range records {
		name, err := partition.ParseName(files[side])
		if err == nil {
			texts[side], err = partition.StoreIn(record.State.Dir).Texts(name)
		}
		if err == nil && side == 0 {
			checkpoints, err = partition.StoreIn(record.State.Dir).Checkpoints(name)
		}
		if err != nil {
			return damagedError(record.Run, files[side], err)
		}
	}
	if len(checkpoints) == len(texts[0]) {
		p.shared = dropShared(&texts, checkpoints)
	}
	for side, record := range records {
		var err error
		if p.cells[side], err = report.DecodeCells(bytes.Join(texts[side], []byte{','})); err != nil {
			return damagedError(record.Run, files[side], err)
		}
	}
	return nil
}

// dropShared removes cells that are equal on both sides but for measurements, and returns the number of their
// checkpoints, counted on the first side.
func dropShared(texts *[2][][]byte, checkpoints []int) (shared int) {
	first := make(map[string]int, len(texts[0]))
	for i, text := range texts[0] {
		first[string(report.WithoutMeasurements(text))] = i
	}
	same := map[int]bool{}
	texts[1] = slices.DeleteFunc(texts[1], func(text []byte) bool {
		i, found := first[string(report.WithoutMeasurements(text))]
		if found = found && !same[i]; found {
			same[i] = true
			shared += checkpoints[i]
		}
		return found
	})
	var rest [][]byte
	for i, text := range texts[0] {
		if !same[i] {
			rest = append(rest, text)
		}
	}
	texts[0] = rest
	return shared
}
