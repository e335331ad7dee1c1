package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

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
	content, err := run.Results()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run %s ended without results; `fevalgraph run` picks up where it stopped", run.ID)
	}
	var damaged *event.DamagedError
	if errors.As(err, &damaged) {
		return nil, err
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

// pastNode finds a node in a run's record by its address, or by a selector
// that fits just one.
func pastNode(run *event.Run, arg string) (*event.NodeDone, error) {
	selector, err := graph.ParseSelector([]string{arg}, nil)
	if err != nil {
		return nil, fail(Usage, err)
	}
	byAddr := map[string]event.NodeDone{}
	var order []string
	err = run.Each(func(e event.Event) bool {
		done, ok := e.(event.NodeDone)
		if ok && selector.Match(done.Addr, nil) {
			if _, seen := byAddr[done.Addr]; !seen {
				order = append(order, done.Addr)
			}
			byAddr[done.Addr] = done
		}
		return true
	})
	if err != nil {
		return nil, pastFault(err)
	}
	if done, ok := byAddr[arg]; ok {
		return &done, nil
	}
	switch len(order) {
	case 0:
		return nil, noMatch("%q was not in run %s", arg, run.ID)
	case 1:
		done := byAddr[order[0]]
		return &done, nil
	}
	return nil, noMatch("%q fits %d nodes of run %s, such as %s and %s", arg, len(order), run.ID, order[0], order[1])
}
