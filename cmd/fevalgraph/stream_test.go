//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fevalgraph/fevalgraph/event"
)

func lineCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 3, "first|last FILE OUT"); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[1]), "\n"), "\n")
	line := lines[0]
	if args[0] == "last" {
		line = lines[len(lines)-1]
	}
	return os.WriteFile(ts.MkAbs(args[2]), []byte(line+"\n"), 0o644)
}

// eventsCommand checks the stream's documented guarantees.
func eventsCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 2, "N FILE"); err != nil {
		return err
	}
	nodes, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	started, done, counts := map[string]bool{}, map[string]bool{}, map[event.State]int{}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[1]), "\n"), "\n")
	for i, line := range lines {
		switch e := event.Decode([]byte(line)).(type) {
		case nil:
			return fmt.Errorf("line %d is not an event: %s", i+1, line)
		case event.RunStart:
			if i != 0 || e.Nodes != nodes {
				return fmt.Errorf("line %d: run.start with %d nodes", i+1, e.Nodes)
			}
		case event.NodeStart:
			started[e.Addr] = true
		case event.NodeDone:
			if done[e.Addr] {
				return fmt.Errorf("%s is done twice", e.Addr)
			}
			if e.State == event.Done && !started[e.Addr] {
				return fmt.Errorf("%s is done but never started", e.Addr)
			}
			done[e.Addr] = true
			counts[e.State]++
		case event.RunEnd:
			if i != len(lines)-1 {
				return fmt.Errorf("line %d: run.end is not the last line", i+1)
			}
			if e.Nodes != nodes || len(done) != nodes || e.Executed+e.Cached+e.Blocked != nodes {
				return fmt.Errorf("want %d nodes, executed, cached and blocked; %d are done, and the end is %s", nodes, len(done), line)
			}
			if e.Cached != counts[event.Cached] || e.Blocked != counts[event.Blocked] ||
				e.Failed != counts[event.Failed] || e.Broken != counts[event.Broken] {
				return fmt.Errorf("the states are %v, and the end is %s", counts, line)
			}
		}
	}
	return nil
}

func runIDCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 1, "NAME"); err != nil {
		return err
	}
	r, err := lastRun(openRecords(ts.MkAbs(".fevalgraph"), ts.Getenv))
	if err == nil {
		ts.Setenv(args[0], r.end.Run)
	}
	return err
}
