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

// recordsIn reads what was recorded in a state directory with the key that the last run was recorded
// with: that of a user of the test, whose home is beside the project or above it, or of the process.
func recordsIn(state string) event.Records {
	own, _ := os.UserHomeDir()
	homes := []string{own}
	for dir := filepath.Dir(state); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		keys, _ := filepath.Glob(filepath.Join(dir, "*", ".local", "state", "fevalgraph", "key"))
		for _, key := range keys {
			homes = append(homes, filepath.Join(key, "..", "..", "..", ".."))
		}
	}
	var records event.Records
	for _, home := range homes {
		records = recordsOf(state, func(name string) string { return map[string]string{"HOME": home}[name] })
		if ids, err := event.Runs(records); err == nil && (len(ids) == 0 || !event.OpenRun(records, ids[len(ids)-1]).Foreign()) {
			break
		}
	}
	return records
}

// recordsOf reads what was recorded in a state directory with the key of an environment.
func recordsOf(state string, getenv func(string) string) event.Records {
	o := eval.Options{LookupEnv: func(name string) (string, bool) { return getenv(name), getenv(name) != "" }}
	return o.RecordsIn(state, false)
}

// lastRun reads the record of the latest run in a state directory, or of a later one of eval.
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
		err = fmt.Errorf("the record of run %s has no end", run.ID)
	}
	return r, err
}
