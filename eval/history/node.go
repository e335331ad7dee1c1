package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Each calls fn for the last event of each node of a recorded run, and for the nodes that it served with
// their partitions.
func Each(state event.Records, run *event.Run, fn func(event.NodeDone) bool) error {
	var failed error
	err := run.Each(func(e event.Event) bool {
		switch e := e.(type) {
		case event.NodeDone:
			return fn(e)
		case event.NodesSame:
			name, err := partition.ParseName(strings.TrimSpace(e.Partition))
			var known []graph.Row
			if err == nil {
				known, err = partition.StoreIn(state.Dir).Rows(name)
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

// Maker returns the address of the node whose work produced the answer for a key in a recorded run, or "".
func Maker(run *event.Run, key string) (addr string, err error) {
	err = run.Each(func(e event.Event) bool {
		if done, ok := e.(event.NodeDone); ok && done.Key == key && done.State != event.Cached {
			addr = done.Addr
		}
		return addr == ""
	})
	return addr, err
}

// Node finds a node in a run's record by its address, by a selector that matches one node, or by the name of a
// cell, for which it returns the node with the highest rank above 0.
func Node(state event.Records, run *event.Run, arg string, rank func(event.NodeDone) int) (*event.NodeDone, error) {
	found, err := Nodes(state, run, arg, rank)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, Ambiguous(run, arg, found)
	}
	return &found[0], nil
}

// Nodes finds the nodes that Node would choose from.
func Nodes(state event.Records, run *event.Run, arg string, rank func(event.NodeDone) int) ([]event.NodeDone, error) {
	named, ofCell, err := matching(state, run, arg)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(named, func(done event.NodeDone) bool { return done.Addr == arg }); at >= 0 {
		return named[at : at+1], nil
	}
	if selection.NamesCells(arg) {
		found := selection.Highest(named, rank)
		if len(found) == 0 {
			found = selection.Highest(ofCell, rank)
		}
		switch {
		case len(found) > 0:
			named = found
		case len(named) == 0:
			named = ofCell
		}
	}
	if len(named) == 0 {
		return nil, exit.Unmatched("%q was not in run %s", arg, run.ID)
	}
	return named, nil
}

// Ambiguous returns the error for an argument that matches several nodes.
func Ambiguous(run *event.Run, arg string, found []event.NodeDone) error {
	const shown = 10
	var listed []string
	for i := range found[:min(shown, len(found))] {
		listed = append(listed, found[i].Addr)
	}
	if len(found) > shown {
		listed = append(listed, fmt.Sprintf("... and %d more", len(found)-shown))
	}
	return exit.Unmatched("%q matches %d nodes of run %s; name one of them:\n  %s", arg, len(found), run.ID, strings.Join(listed, "\n  "))
}

// matching returns the last events of the nodes that a selector matches by their own addresses, or by the name of
// their cell.
func matching(state event.Records, run *event.Run, arg string) (named, ofCell []event.NodeDone, err error) {
	selector, err := graph.ParseSelector([]string{arg}, nil)
	if err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	places := map[string]int{}
	add := func(all *[]event.NodeDone, done event.NodeDone) {
		at, again := places[done.Addr]
		if !again {
			at = len(*all)
			places[done.Addr], *all = at, append(*all, event.NodeDone{})
		}
		(*all)[at] = done
	}
	err = Each(state, run, func(done event.NodeDone) bool {
		switch {
		case selector.Match(done.Addr, nil):
			add(&named, done)
		case selector.Match(done.Addr, nil, plan.CellName(done.Addr)):
			add(&ofCell, done)
		}
		return true
	})
	if err != nil {
		return nil, nil, exit.Past(err)
	}
	return named, ofCell, nil
}
