//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// clusterTroubles are the disturbances of TestSkyPilotKilled.
var clusterTroubles = []struct {
	name string
	do   func(s *clusterSoak, r *underway, pause time.Duration)
}{
	{"kill fevalgraph", func(s *clusterSoak, r *underway, _ time.Duration) { r.kill() }},
	{"kill the API server", func(s *clusterSoak, r *underway, pause time.Duration) {
		s.c.machines.killServer(s.c.t)
		time.Sleep(pause)
		s.c.machines.startServer(s.c.t)
	}},
	{"kill a node's daemon", func(s *clusterSoak, r *underway, pause time.Duration) {
		node := "n" + strconv.Itoa(1+s.random.IntN(2))
		s.c.machines.killNode(s.c.t, node)
		time.Sleep(pause)
		s.c.machines.startNode(s.c.t, node)
	}},
	{"cancel the cluster", func(s *clusterSoak, r *underway, _ time.Duration) {
		for _, job := range s.c.jobs() {
			s.c.machines.slurm(s.c.t, "scancel", job)
		}
	}},
}

// clusterSoak holds the state that all rounds share.
type clusterSoak struct {
	c      *onClusters
	random *rand.Rand
	cells  int
}

// After any kill during a run on clusters, at any moment, the next run judges the missing cells and repeats no recorded
// work. make soak-skypilot runs it. The moments are random; the printed seed repeats them.
func TestSkyPilotKilled(t *testing.T) {
	if os.Getenv(roundsVariable) == "" {
		t.Skip("make soak-skypilot has it")
	}
	rounds, seed := roundsAndSeed(t, 0)
	m := newMachines(t)
	s := &clusterSoak{c: m.checkout(t), random: rand.New(rand.NewPCG(seed, 0)), cells: 60}
	s.c.answers("c0", s.cells/2)
	s.c.answers("gpu0", s.cells/2)
	for i := range rounds {
		s.round(i)
		if t.Failed() {
			break // otherwise the next rounds would begin with other clusters
		}
	}
	s.c.run("clean", "--clusters")
	s.c.queueIsEmpty()
	s.c.noLeftovers()
}

// A failed set-up breaks the nodes with its output, and leaves nothing behind. As it takes a launch, make soak-skypilot
// runs it.
func TestSkyPilotSetUp(t *testing.T) {
	if os.Getenv(roundsVariable) == "" {
		t.Skip("make soak-skypilot has it")
	}
	c := newMachines(t).checkout(t)
	c.answers("c0", 2)
	cmd := c.with([]string{`set_up=["echo fetching", "echo no such package >&2", "exit 3"]`}, "run")
	err := cmd.Run()
	said := output(cmd)
	if err == nil || cmd.ProcessState.ExitCode() != 3 || !strings.Contains(said, "cluster_setup failed: no such package") {
		t.Errorf("it ended with %v, want exit code 3 and the set-up's output\n%s", err, said)
	}
	c.queueIsEmpty()
}

func (s *clusterSoak) round(i int) {
	t := s.c.t
	t.Helper()
	fresh := s.random.IntN(3) == 0 // it begins without clusters
	trouble := clusterTroubles[s.random.IntN(len(clusterTroubles))]
	within := 12 * time.Second // environment of a run with clusters
	if fresh {
		within = 60 * time.Second // and a round that must launch both
		s.c.run("clean", "--clusters")
	}
	at := time.Duration(s.random.Int64N(int64(within)))
	pause := time.Duration(s.random.Int64N(int64(10 * time.Second)))
	variables := s.c.napping(0.5+float64(i)/1000, "keep=1h")

	began := time.Now()
	r := startRun(t, s.c.with(variables, "run"))
	hit := false
	select {
	case <-r.done:
	case <-time.After(at):
		hit = true
		trouble.do(s, r, pause)
	}
	r.ends(8 * time.Minute)
	s.c.awaitForked()
	code, begun := r.cmd.ProcessState.ExitCode(), len(s.c.graded())
	if code != 0 && code != -1 {
		t.Logf("output:\n%s", output(r.cmd))
	}
	s.c.judge(variables...)
	graded := s.c.graded()
	twice := 0
	for _, times := range graded {
		twice += times - 1
	}
	t.Logf("round %d: %s at %v (without clusters before: %t; hit: %t); ended with %d, %d solutions had begun; %d began more than once; %.0fs",
		i, trouble.name, at.Round(time.Millisecond), fresh, hit, code, begun, twice, time.Since(began).Seconds())
	if len(graded) != s.cells {
		t.Errorf("%d solutions were graded, want %d", len(graded), s.cells)
	}
	s.c.recordedOnce()
	if again := s.c.judge(variables...); s.c.lastRun().end.Executed > 0 {
		t.Errorf("a third run executed %v\n%s", s.c.lastRun().executed, again)
	}
}

// recordedOnce fails if the work of a key was recorded twice.
func (c *onClusters) recordedOnce() {
	c.t.Helper()
	executions := c.executions()
	for _, key := range slices.Sorted(maps.Keys(executions)) {
		if addrs := executions[key]; len(addrs) > 1 {
			c.t.Errorf("%s was recorded %d times: %q", key, len(addrs), addrs)
		}
	}
}

// executions are, by the records of all runs, the addresses of nodes that executed a
// command for a key.
func (c *onClusters) executions() map[string][]string {
	c.t.Helper()
	all := map[string][]string{}
	ids, err := event.Runs(c.records())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, id := range ids {
		run, err := event.FindRun(c.records(), id)
		if err == nil {
			err = run.Each(func(e event.Event) bool {
				if done, ok := e.(event.NodeDone); ok && done.State == event.Done && done.Kind == "command" {
					all[done.Key] = append(all[done.Key], fmt.Sprint(done.Addr, " in ", id))
				}
				return true
			})
		}
		if err != nil && !os.IsNotExist(err) {
			c.t.Fatal(err)
		}
	}
	return all
}
