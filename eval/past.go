package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// Results reads the results of a recorded run: its id, a part of it that no other
// run has, or "latest". Nothing is evaluated. The error wraps event.ErrNoRuns when
// nothing was recorded.
func Results(o Options, run string) (*report.Results, error) {
	results, err := pastResults(o.StateDir(), run)
	if err != nil {
		return nil, pastFault(err)
	}
	return results, nil
}

func pastResults(state, name string) (*report.Results, error) {
	run, err := event.FindRun(state, name)
	if err != nil {
		return nil, err
	}
	cells, err := recordedCells(state, run, map[string]bool{})
	if err != nil {
		return nil, err
	}
	return &report.Results{Schema: report.Schema, Run: run.ID, Cells: cells}, nil
}

// recordedCells reads the results of a run, without the partition files that known has,
// and adds to known those that it has read.
func recordedCells(state string, run *event.Run, known map[string]bool) ([]report.Cell, error) {
	manifest, err := run.Manifest()
	if errors.Is(err, fs.ErrNotExist) {
		results, err := earlierResults(run)
		if err != nil {
			return nil, err
		}
		return results.Cells, nil
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
				all[i], err = partition.StoreIn(state).Results(part)
			}
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, partition.ErrDamaged) {
				return &event.DamagedError{Run: run.ID, File: filepath.Join("..", "..", "partitions", text)}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("reading the results of run %s: %w", run.ID, err)
	}
	return slices.Concat(all...), nil
}

// earlierResults reads what earlier versions recorded in one file.
func earlierResults(run *event.Run) (*report.Results, error) {
	content, err := run.Results()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run %s ended without results; `fevalgraph run` picks up where it stopped", run.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the results of run %s: %w", run.ID, err)
	}
	results, err := report.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("reading the results of run %s: %w", run.ID, err)
	}
	return results, nil
}

// eachDone calls fn for the last event of each node of a recorded run, and for those of
// nodes that it served with their partitions.
func eachDone(state string, run *event.Run, fn func(event.NodeDone) bool) error {
	var failed error
	err := run.Each(func(e event.Event) bool {
		switch e := e.(type) {
		case event.NodeDone:
			return fn(e)
		case event.NodesSame:
			name, err := partition.ParseName(strings.TrimSpace(e.Partition))
			var known []graph.Row
			if err == nil {
				known, err = partition.StoreIn(state).Rows(name)
			}
			for i := range known {
				if !fn(known[i].Event()) {
					return false
				}
			}
			failed = err
			return err == nil
		}
		return true
	})
	return errors.Join(err, failed)
}

// pastNode finds a node in a run's record by its address, by a selector that fits just
// one, or by the name of a cell, of which it is the one with the highest rank above 0.
func pastNode(state string, run *event.Run, arg string, rank func(event.NodeDone) int) (*event.NodeDone, error) {
	byAddr, order, err := pastNodes(state, run, arg)
	if err != nil {
		return nil, err
	}
	if done, ok := byAddr[arg]; ok {
		return &done, nil
	}
	if namesCells(arg) {
		rankOf := func(addr string) int { return rank(byAddr[addr]) }
		found := highest(order, rankOf)
		if parts, ok := partsOfCell(arg); ok && len(found) == 0 && len(order) > 0 {
			more, within, err := pastNodes(state, run, parts)
			if err != nil {
				return nil, err
			}
			maps.Copy(byAddr, more)
			found = highest(within, rankOf)
		}
		if len(found) > 0 {
			order = found
		}
	}
	switch len(order) {
	case 0:
		return nil, noMatch("%q was not in run %s", arg, run.ID)
	case 1:
		done := byAddr[order[0]]
		return &done, nil
	}
	const shown = 10
	listed := order[:min(shown, len(order))]
	if len(order) > shown {
		listed = append(slices.Clone(listed), fmt.Sprintf("... and %d more", len(order)-shown))
	}
	return nil, noMatch("%q fits %d nodes of run %s; name one of them:\n  %s", arg, len(order), run.ID, strings.Join(listed, "\n  "))
}

// pastNodes are the last events of a run's nodes that fit a selector, and their
// addresses in order.
func pastNodes(state string, run *event.Run, arg string) (map[string]event.NodeDone, []string, error) {
	selector, err := graph.ParseSelector([]string{arg}, nil)
	if err != nil {
		return nil, nil, fail(Usage, err)
	}
	byAddr := map[string]event.NodeDone{}
	var order []string
	err = eachDone(state, run, func(done event.NodeDone) bool {
		if selector.Match(done.Addr, nil) {
			if _, seen := byAddr[done.Addr]; !seen {
				order = append(order, done.Addr)
			}
			byAddr[done.Addr] = done
		}
		return true
	})
	if err != nil {
		return nil, nil, pastFault(err)
	}
	return byAddr, order, nil
}
