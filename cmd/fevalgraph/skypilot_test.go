//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Properties that only a real SkyPilot with a real Slurm has. Its parts run in turn, because clusters that start
// together on one machine disturb each other.
func TestSkyPilot(t *testing.T) {
	m := newMachines(t)
	t.Run("as_here", func(t *testing.T) { clustersJudgeAsHere(t, m) })
	t.Run("tasks", func(t *testing.T) { tasksOnCluster(t, m) })
	t.Run("impossible", func(t *testing.T) { clusterIsImpossible(t, m) })
	t.Run("killed", func(t *testing.T) { killedLeavesCluster(t, m) })
	c := m.checkout(t)
	c.answers("c0", 24)
	for i, part := range []struct {
		name string
		do   func(c *onClusters, nap float64)
	}{
		{"cancelled", clusterIsCancelled}, {"server", serverIsKilled}, {"edited", batchIsEdited}, {"interrupted", interruptEndsClusters},
	} {
		t.Run(part.name, func(t *testing.T) {
			own := &onClusters{&checkout{t: t, dir: c.dir, place: c.place, env: c.env}, m, c.log}
			part.do(own, 1+float64(i)/100)
		})
	}
}

// Tasks make the same on a cluster as here.
func tasksOnCluster(t *testing.T, m *machines) {
	c := m.openProject(t, "tasks")
	c.env = append(c.env, "FEVALGRAPH_ISOLATION=")
	c.write("clusters.feval.hcl", `
variable "api" {}

backend "skypilot" "slurm" {
  infra = "slurm/tests"
  api   = var.api
  slots = 4
  keep  = "30m"
}

locals { there = backend.skypilot.slurm }
`)
	tasksAgree(t, c.dir, c.command)
}

// Cells of two sets of resources are judged as on this machine, and once.
func clustersJudgeAsHere(t *testing.T, m *machines) {
	if m.judge == "" {
		t.Fatalf("%s is not set", judgeVariable)
	}
	write := func(c *onClusters) {
		c.sums()
		c.env = append(c.env, "FEVALGRAPH_ISOLATION=", "FEVALGRAPH_VAR_go_judge="+m.judge)
		for i := range 10 {
			c.answers(fmt.Sprintf("%s%d", []string{"c", "gpu"}[i%2], i), 20)
			c.write(fmt.Sprintf("tested/kv/s%d/kv.py", i), strings.Repeat("def put(): pass\n", i%2)+strings.Repeat("def list(): pass\n", i%3))
			c.write(fmt.Sprintf("tested/gpu-kv/s%d/kv.py", i), strings.Repeat("def list(): pass\n", i%2)+"def put(): pass\n")
		}
	}
	clusters, here := m.checkout(t), m.checkout(t)
	write(clusters)
	write(here)
	here.env = append(here.env, "FEVALGRAPH_VAR_where=here")

	said := clusters.judge("keep=30m")
	if launched := clusters.launched(said); len(launched) != 2 {
		t.Errorf("%d clusters were launched: %q", len(launched), launched)
	}
	here.judge()
	same := func() {
		t.Helper()
		if diff := cmp.Diff(here.judgements(), clusters.judgements()); diff != "" {
			t.Errorf("the results differ (-here +clusters):\n%s", diff)
		}
	}
	same()

	said = clusters.judge("keep=30m")
	if again := clusters.lastRun(); again.end.Executed > 0 || len(clusters.launched(said)) > 0 {
		t.Errorf("a second run executed %v and launched %q", again.executed, clusters.launched(said))
	}

	// An edit: the same nodes run as here, on a cluster that lacks nothing else.
	const edited = "answers/c0/s3.txt"
	clusters.write(edited, "c0/s3 0.75\n")
	here.write(edited, "c0/s3 0.75\n")
	before, size := m.received(t)
	said = clusters.judge("keep=30m")
	after, grown := m.received(t)
	here.judge()
	same()
	if diff := cmp.Diff(here.ran(), clusters.ran()); diff != "" {
		t.Errorf("other nodes ran (-here +clusters):\n%s", diff)
	}
	t.Logf("after the edit %q ran; clusters' stores had %d files of %d bytes, and have %d more of %d bytes", clusters.ran(), before, size, after-before, grown-size)
	if strings.Count(said, "reusing cluster ") == 0 || len(clusters.launched(said)) > 0 {
		t.Errorf("the kept cluster was not used:\n%s", said)
	}
	if before == 0 || after > before+4 {
		t.Errorf("clusters' stores have %d files, and had %d before one solution was edited", after, before)
	}
	clusters.noLeftovers()
	if cmd := clusters.command("clean", "--clusters"); cmd.Run() != nil {
		t.Errorf("clean: %s", output(cmd))
	}
	clusters.queueIsEmpty()
}

// ran returns the nodes that the last run executed, without their backends.
func (c *onClusters) ran() (addrs []string) {
	for _, addr := range c.lastRun().executed {
		name, _, _ := strings.Cut(addr, "@")
		addrs = append(addrs, name)
	}
	slices.Sort(addrs)
	return addrs
}

// received counts the files in the stores of all clusters, and their bytes.
func (m *machines) received(t *testing.T) (files int, size int64) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(m.dir, "slurm", "home", ".fevalgraph"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(path, "/store/") {
			if info, err := d.Info(); err == nil {
				files, size = files+1, size+info.Size()
			}
		}
		return nil // in case it ends at this moment
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, size
}

// judgements returns the results of the last run without what differs between machines.
func (c *onClusters) judgements() string {
	c.t.Helper()
	cmd := c.command("results", "--format", "json")
	if err := cmd.Run(); err != nil {
		c.t.Fatalf("%v\n%s", err, output(cmd))
	}
	var value map[string]any
	if err := json.Unmarshal(cmd.Stdout.(*bytes.Buffer).Bytes(), &value); err != nil {
		c.t.Fatal(err)
	}
	encoded, err := json.MarshalIndent(placeless(timeless(value)), "", " ")
	if err != nil {
		c.t.Fatal(err)
	}
	return string(encoded)
}

// placeless removes the locations of verdicts, and measurements.
func placeless(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range []string{"backend", "cpu_ms", "memory_bytes"} {
			delete(v, name)
		}
		for name := range v {
			v[name] = placeless(v[name])
		}
	case []any:
		for i := range v {
			v[i] = placeless(v[i])
		}
	}
	return value
}

// A launch that cannot succeed breaks the nodes, with SkyPilot's words, and leaves nothing.
func clusterIsImpossible(t *testing.T, m *machines) {
	c := m.checkout(t)
	c.answers("c0", 3)
	cmd := c.with([]string{"cpus=64"}, "run")
	began := time.Now()
	err := cmd.Run()
	said := output(cmd)
	if err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("it ended with %v, want exit code 3\n%s", err, said)
	}
	if !strings.Contains(said, "slurm") || !strings.Contains(said, "64") || !strings.Contains(said, "resources") {
		t.Errorf("SkyPilot's words are not there:\n%s", said)
	}
	t.Logf("after %v:\n%s", time.Since(began), said)
	c.queueIsEmpty()
}

// A killed run costs nothing that had begun: the next one takes over the cluster with it.
// The API server that the killed one had started ends, and so does the next one's own.
func killedLeavesCluster(t *testing.T, m *machines) {
	c := m.checkout(t)
	c.answers("c0", 24)
	c.ownServer()
	variables := c.napping(1)
	first := c.runUntil(6, variables...)
	first.kill()
	c.awaitForked()
	before := c.graded()
	said := c.judge(variables...)
	if strings.Count(said, "starting SkyPilot's API server") != 1 || strings.Count(said, "reusing cluster ") != 1 || len(c.launched(said)) > 0 {
		t.Errorf("another server was not started, or the cluster not used again:\n%s", said)
	}
	c.onceEach(24, before)
	c.queueIsEmpty()
	c.noLeftovers()
}

// onceEach fails if a solution was not graded, or was recorded twice. A solution in before had begun when a
// process was killed: if it had ended without being recorded, it is graded again.
func (c *onClusters) onceEach(solutions int, before map[string]int) {
	c.t.Helper()
	graded := c.graded()
	for solution, times := range graded {
		if times > 1 && before[solution] == 0 {
			c.t.Errorf("%s was graded %d times", solution, times)
		}
	}
	c.recordedOnce()
	if len(graded) != solutions {
		c.t.Errorf("%d solutions were graded, want %d", len(graded), solutions)
	}
	c.t.Logf("%d of %d had begun when it happened", len(before), solutions)
}

// A job that Slurm ends has no verdict.
func clusterIsCancelled(c *onClusters, nap float64) {
	run := c.runUntil(6, c.napping(nap, "keep=30m")...)
	jobs := c.jobs()
	if len(jobs) != 1 {
		c.t.Errorf("the jobs are %q", jobs)
	}
	for _, job := range jobs {
		c.machines.slurm(c.t, "scancel", job)
	}
	said := c.judged(run.cmd, run.ends(5*time.Minute))
	if end := c.lastRun().end; end.Preempted == 0 {
		c.t.Errorf("no job was preempted: %+v\n%s", end, said)
	}
	if !strings.Contains(said, "preempted") {
		c.t.Errorf("no message:\n%s", said)
	}
	if graded := c.graded(); len(graded) != 24 {
		c.t.Errorf("%d solutions were graded", len(graded))
	}
}

// Clusters work without the API server.
func serverIsKilled(c *onClusters, nap float64) {
	run := c.runUntil(6, c.napping(nap, "keep=30m")...)
	before := c.graded()
	c.machines.killServer(c.t)
	time.Sleep(3 * time.Second) // while it is away
	c.machines.startServer(c.t)
	c.judged(run.cmd, run.ends(5*time.Minute))
	c.onceEach(24, before)
}

// The next run sees edits during a run; this one uses the earlier files.
func batchIsEdited(c *onClusters, nap float64) {
	variables := c.napping(nap, "keep=30m")
	run := c.runUntil(6, variables...)
	var want []string
	for i, solution := range []string{"c0/s0", "c0/s23"} {
		c.write("answers/"+solution+".txt", fmt.Sprintf("%s 0.%d\n", solution, 5+i)) // equal scores would share nodes
		for _, node := range []string{"command", "score", "submission"} {
			want = append(want, node+":"+solution)
		}
	}
	c.judged(run.cmd, run.ends(5*time.Minute))
	c.judge(variables...)
	slices.Sort(want)
	if diff := cmp.Diff(want, c.ran()); diff != "" {
		c.t.Errorf("other nodes ran than what was edited (-want +got):\n%s", diff)
	}
	for solution, times := range c.graded() {
		if times != 1 {
			c.t.Errorf("%s was graded %d times", solution, times)
		}
	}
	if graded := c.graded(); len(graded) != 24+2 { // before and after
		c.t.Errorf("%d solutions were graded: %v", len(graded), graded)
	}
}

// An interrupt ends clusters, too.
func interruptEndsClusters(c *onClusters, nap float64) {
	run := c.runUntil(6, c.napping(nap)...)
	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		c.t.Fatal(err)
	}
	began := time.Now()
	run.ends(5 * time.Minute)
	if code := run.cmd.ProcessState.ExitCode(); code != 130 || run.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		c.t.Errorf("it ended with %v, want exit code 130\n%s", run.cmd.ProcessState, output(run.cmd))
	}
	c.t.Logf("it ended after %v", time.Since(began))
	c.queueIsEmpty()
}
