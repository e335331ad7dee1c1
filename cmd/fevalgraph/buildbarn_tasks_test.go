//go:build unix

package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// What tasks make on a worker is what they make here, and can be used wherever the other can; and
// a command that makes nothing is broken in the same words.
func TestBuildbarnTasks(t *testing.T) {
	c := newFarm(t, filepath.Join("testdata", "tasks"), "")
	c.share()
	c.run("run", "-j", "4")
	c.sameEverywhere("local.here", "remote.a")
	results, err := report.Decode(strings.NewReader(c.mayFail("results", "--format", "json")))
	if err != nil || len(results.Cells) != 4 {
		t.Fatalf("%+v, %v", results, err)
	}
	for _, cell := range results.Cells {
		if first := results.Cells[0]; cell.Score == nil || *cell.Score != *first.Score || cell.Checkpoints[0].Figures["size.bytes"] != float64(len("cat packed | cksum\n")) {
			t.Errorf("%s on %s: %+v", cell.Problem, cell.Backend, cell.Checkpoints)
		}
	}
	c.once("local.here", "remote.a")

	cmd := c.command("run", "--var", "failing=true", "task:failing*")
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("%v\n%s", err, output(cmd))
	}
	said := c.complaints(regexp.MustCompile(`^task:failing\["(here|a) (\w+)"\]$`))
	if len(said["here"]) != 6 {
		t.Errorf("%d tasks are broken here", len(said["here"]))
	}
	for name, why := range said["here"] {
		if there := said["a"][name]; why == "" || there != why {
			t.Errorf("%s: %q here, and %q there", name, why, there)
		}
	}
}

// complaints are the messages of the broken nodes of the last run, by the two groups of their
// addresses.
func (c *farm) complaints(addr *regexp.Regexp) map[string]map[string]string {
	c.t.Helper()
	run, err := event.FindRun(filepath.Join(c.dir, ".fevalgraph"), "latest")
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[string]map[string]string{}
	if err := run.Each(func(e event.Event) bool {
		done, _ := e.(event.NodeDone)
		if of := addr.FindStringSubmatch(done.Addr); of != nil && done.State == event.Broken {
			if all[of[1]] == nil {
				all[of[1]] = map[string]string{}
			}
			all[of[1]][of[2]] = done.Message
		}
		return true
	}); err != nil {
		c.t.Fatal(err)
	}
	return all
}
