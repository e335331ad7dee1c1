package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/event"
)

// runRecord is what a run's events.jsonl says.
type runRecord struct {
	start    event.RunStart
	end      event.RunEnd
	executed []string // addresses of nodes whose work ran, in order
	states   map[string]event.State
}

// recordsIn reads what was recorded in a state directory with the key of the user of the test, whose
// home is beside the project or above it, or else is that of the process.
func recordsIn(state string) event.Records {
	home, _ := os.UserHomeDir()
	for dir := filepath.Dir(state); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, name := range []string{".home", "home"} {
			if _, err := os.Stat(filepath.Join(dir, name, ".local", "state", "fevalgraph", "key")); err == nil {
				home = filepath.Join(dir, name)
			}
		}
	}
	o := eval.Options{LookupEnv: func(name string) (string, bool) {
		if name == "HOME" {
			return home, true
		}
		return "", false
	}}
	return o.RecordsIn(state, false)
}

// lastRun reads the record of the latest run in a state directory, or of a later one of eval.
func lastRun(state string) (*runRecord, error) {
	ids, err := event.Runs(recordsIn(state))
	if err != nil || len(ids) == 0 {
		return nil, errors.Join(event.ErrNoRuns, err)
	}
	run := event.OpenRun(recordsIn(state), ids[len(ids)-1])
	if start, ok := run.Start(); ok && start.AdHoc {
		return readRun(run)
	}
	if run, err = event.FindRun(recordsIn(state), "latest"); err != nil {
		return nil, err
	}
	return readRun(run)
}

func readRun(run *event.Run) (*runRecord, error) {
	r := &runRecord{states: map[string]event.State{}}
	err := run.Each(func(e event.Event) bool {
		switch e := e.(type) {
		case event.RunStart:
			r.start = e
		case event.RunEnd:
			r.end = e
		case event.NodeDone:
			r.states[e.Addr] = e.State
			switch e.State {
			case event.Done, event.Failed, event.Broken, event.Timeout:
				r.executed = append(r.executed, e.Addr)
			}
		}
		return true
	})
	if err == nil && r.end.Run == "" {
		err = fmt.Errorf("the record of run %s has no end", run.ID)
	}
	return r, err
}
