package history

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
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
	byAddr, order, err := nodes(state, run, arg)
	if err != nil {
		return nil, err
	}
	if done, ok := byAddr[arg]; ok {
		return &done, nil
	}
	if selection.NamesCells(arg) {
		rankOf := func(addr string) int { return rank(byAddr[addr]) }
		found := selection.Highest(order, rankOf)
		if parts, ok := selection.PartsOfCell(arg); ok && len(found) == 0 && len(order) > 0 {
			more, within, err := nodes(state, run, parts)
			if err != nil {
				return nil, err
			}
			maps.Copy(byAddr, more)
			found = selection.Highest(within, rankOf)
		}
		if len(found) > 0 {
			order = found
		}
	}
	switch len(order) {
	case 0:
		return nil, exit.Unmatched("%q was not in run %s", arg, run.ID)
	case 1:
		done := byAddr[order[0]]
		return &done, nil
	}
	const shown = 10
	listed := order[:min(shown, len(order))]
	if len(order) > shown {
		listed = append(slices.Clone(listed), fmt.Sprintf("... and %d more", len(order)-shown))
	}
	return nil, exit.Unmatched("%q matches %d nodes of run %s; name one of them:\n  %s", arg, len(order), run.ID, strings.Join(listed, "\n  "))
}

// nodes returns the last events of the nodes that match a selector, and their sorted addresses.
func nodes(state event.Records, run *event.Run, arg string) (map[string]event.NodeDone, []string, error) {
	selector, err := graph.ParseSelector([]string{arg}, nil)
	if err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	byAddr := map[string]event.NodeDone{}
	var order []string
	err = Each(state, run, func(done event.NodeDone) bool {
		if selector.Match(done.Addr, nil) {
			if _, seen := byAddr[done.Addr]; !seen {
				order = append(order, done.Addr)
			}
			byAddr[done.Addr] = done
		}
		return true
	})
	if err != nil {
		return nil, nil, exit.Past(err)
	}
	return byAddr, order, nil
}
