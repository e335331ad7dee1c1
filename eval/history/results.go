package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// Results reads the results of a recorded run, given by its id, a unique part of it, or "latest". It evaluates
// nothing. The error wraps event.ErrNoRuns if there are no records.
func Results(state event.Records, name string) (*report.Results, error) {
	run, err := event.FindRun(state, name)
	if err != nil {
		return nil, err
	}
	cells, err := Cells(state, run, map[string]bool{})
	if err != nil {
		return nil, err
	}
	tasks, err := Tasks(run)
	if err != nil {
		return nil, err
	}
	return &report.Results{Schema: report.Schema, Run: run.ID, Cells: cells, Tasks: tasks}, nil
}

// Tasks reads the results of the tasks of a run.
func Tasks(run *event.Run) (tasks []report.Task, err error) {
	manifest, err := run.Manifest()
	if err != nil || len(manifest.Tasks) == 0 {
		return nil, err
	}
	if json.Unmarshal(manifest.Tasks, &tasks) != nil {
		return nil, &event.DamagedError{Run: run.ID, File: event.ManifestFile}
	}
	return tasks, nil
}

// errNoResults is the error for a run that ended without results, or that is not recorded.
var errNoResults = errors.New("ended without results")

// Cells reads the results of a run, except the partition files in known, and adds the files that it read to
// known.
func Cells(state event.Records, run *event.Run, known map[string]bool) ([]report.Cell, error) {
	manifest, err := run.Manifest()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run %s %w; `fevalgraph run` picks up where it stopped", run.ID, errNoResults)
	}
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Clone(manifest.Partitions), func(name string) bool { return known[name] })
	all := make([][]report.Cell, len(names))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, text := range names {
		known[text] = true
		group.Go(func() error {
			part, err := partition.ParseName(text)
			if err == nil {
				all[i], err = partition.StoreIn(state.Dir).Results(part)
			}
			return damagedError(run, text, err)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("reading the results of run %s: %w", run.ID, err)
	}
	return slices.Concat(all...), nil
}

// damagedError returns the error for a partition file of a run that cannot be read.
func damagedError(run *event.Run, file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, partition.ErrDamaged) {
		return &event.DamagedError{Run: run.ID, File: filepath.Join("..", "..", "partitions", file)}
	}
	return err
}
