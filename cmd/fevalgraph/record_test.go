package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/event"
)

// runRecord holds the content of a run's events.jsonl.
type runRecord struct {
	start    event.RunStart
	end      event.RunEnd
	executed []string // addresses of nodes whose work ran, in order
	states   map[string]event.State
}

// recordsIn reads the record of a program with an environment in a project's directory.
func recordsIn(dir string, env []string) event.Records {
	return openRecords(filepath.Join(dir, ".fevalgraph"), func(name string) (value string) {
		for _, pair := range env { // the last one counts
			if is, v, _ := strings.Cut(pair, "="); is == name {
				value = v
			}
		}
		return value
	})
}

// openRecords reads what was recorded in a state directory with the key of an environment.
func openRecords(state string, getenv func(string) string) event.Records {
	o := eval.Options{LookupEnv: func(name string) (string, bool) { return getenv(name), getenv(name) != "" }}
	return o.RecordsIn(state, false)
}

// lastRun reads the record of the latest run in a state directory, or of a later eval.
func lastRun(records event.Records) (*runRecord, error) {
	ids, err := event.Runs(records)
	if err != nil || len(ids) == 0 {
		return nil, errors.Join(event.ErrNoRuns, err)
	}
	run := event.OpenRun(records, ids[len(ids)-1])
	if start, ok := run.Start(); ok && start.AdHoc {
		return readRun(run)
	}
	if run, err = event.FindRun(records, "latest"); err != nil {
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
		err = fmt.Errorf("the record of run %s is incomplete", run.ID)
	}
	return r, err
}
