//go:build unix

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"regexp"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// tasksAgree runs a copy of testdata/tasks in dir: tasks have the same outputs as on this machine, other backends can
// use them, and a command without output is broken with the same message.
func tasksAgree(t *testing.T, dir string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	exits := func(code int, args ...string) *bytes.Buffer {
		t.Helper()
		cmd := command(args...)
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
			t.Fatalf("fevalgraph %q: %v\n%s", args, err, output(cmd))
		}
		return cmd.Stdout.(*bytes.Buffer)
	}
	exits(0, "run", "-j", "4")
	results, err := report.Decode(exits(0, "results", "--format", "json"))
	if err != nil || len(results.Cells) != 4 {
		t.Fatalf("%+v, %v", results, err)
	}
	for _, cell := range results.Cells {
		first, bytes := results.Cells[0].Score, float64(len("cat packed | cksum\n"))
		if cell.Score == nil || *cell.Score != *first || cell.Checkpoints[0].Figures["size.bytes"] != bytes {
			t.Errorf("%s on %s: %+v", cell.Problem, cell.Backend, cell.Checkpoints)
		}
	}
	exits(1, "run", "--var", "failing=true", "task:failing*")
	said := complaints(t, dir, command().Env, regexp.MustCompile(`^task:failing\["(here|there) (\w+)"\]$`))
	if len(said["here"]) != 6 || len(said["there"]) != 6 {
		t.Errorf("%d tasks failed here, and %d there", len(said["here"]), len(said["there"]))
	}
	for name, why := range said["here"] {
		if there := said["there"][name]; why == "" || there != why {
			t.Errorf("%s: %q here, and %q there", name, why, there)
		}
	}
}

// complaints returns the messages of the failed nodes of the last run, by the two groups of their
// addresses.
func complaints(t *testing.T, dir string, env []string, addr *regexp.Regexp) map[string]map[string]string {
	t.Helper()
	run, err := event.FindRun(recordsIn(dir, env), "latest")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	if err := run.Each(func(e event.Event) bool {
		done, _ := e.(event.NodeDone)
		if of := addr.FindStringSubmatch(done.Addr); of != nil && done.State == event.Failed {
			if all[of[1]] == nil {
				all[of[1]] = map[string]string{}
			}
			all[of[1]][of[2]] = done.Message
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return all
}
