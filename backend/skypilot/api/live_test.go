package api_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend/skypilot/api"
)

// TestServer runs a job on the server that FEVALGRAPH_TEST_SKYPILOT names, such as one
// of scripts/skypilot.
func TestServer(t *testing.T) {
	base := os.Getenv("FEVALGRAPH_TEST_SKYPILOT")
	if base == "" {
		t.Skip("FEVALGRAPH_TEST_SKYPILOT names no API server of SkyPilot")
	}
	// Against hanging; each call takes seconds, the launch up to a minute.
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	c := api.New(base, api.User{ID: "feva1e57", Name: "fevalgraph"}, nil)
	began := time.Now()
	done := func(what string) {
		t.Logf("%-10s %6.1f s", what, time.Since(began).Seconds())
		began = time.Now()
	}

	h, err := c.Health(ctx)
	if err != nil || h.Status != "healthy" || h.APIVersion == "" {
		t.Fatalf("health: %+v, %v", h, err)
	}
	done("health")

	cluster := fmt.Sprintf("feval-test-%d", os.Getpid())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if err := c.Down(ctx, cluster); err != nil && !api.NoSuchCluster(err) {
			t.Errorf("down: %v", err)
		}
	})
	task := api.Task{
		Name:      "echo",
		Resources: api.Resources{Infra: "slurm/tests", CPUs: "1", Memory: "1", Accelerators: "H100:1"},
		Setup:     "echo preparing",
		Run:       `echo "word=$WORD rank=$SKYPILOT_NODE_RANK" '<é>'`,
		Envs:      map[string]string{"WORD": "1e3"},
		Sbatch:    map[string]string{"time": "1:00:00"},
	}
	request, err := c.Launch(ctx, cluster, task)
	if err != nil {
		t.Fatal(err)
	}
	launched, err := c.WaitLaunched(ctx, request)
	if err != nil || launched.Job != 1 {
		t.Fatalf("launch: %+v, %v", launched, err)
	}
	done("launch")

	var log bytes.Buffer
	if err := c.Logs(ctx, &log, cluster, launched.Job, 0, true); err != nil || !strings.Contains(log.String(), "word=1e3 rank=0 <é>") {
		t.Errorf("logs: %q, %v", log.String(), err)
	}
	done("logs")

	states, err := c.JobStatus(ctx, cluster, []int{1, 9})
	if err != nil || states[1] != api.JobSucceeded || states[9] != "" {
		t.Errorf("job status: %v, %v", states, err)
	}
	done("job status")
	jobs, err := c.Queue(ctx, cluster)
	if err != nil || len(jobs) != 1 || jobs[0].ID != 1 || !jobs[0].Status.Ended() || jobs[0].Ended == 0 {
		t.Errorf("queue: %+v, %v", jobs, err)
	}
	done("queue")

	job, err := c.Exec(ctx, cluster, api.Task{Run: "sleep 3600"})
	if err != nil || job != 2 {
		t.Errorf("exec: %d, %v", job, err)
	}
	done("exec")
	// SkyPilot loses some that come early.
	for {
		if err := c.CancelJobs(ctx, cluster, []int{job}); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		states, err := c.JobStatus(ctx, cluster, []int{job})
		if err != nil || states[job].Ended() && states[job] != api.JobCancelled {
			t.Fatalf("cancelled: %v, %v", states, err)
		}
		if states[job].Ended() {
			break
		}
		t.Logf("cancelled, but %s", states[job])
	}
	done("cancel")

	if err := c.Autostop(ctx, cluster, 30, true); err != nil {
		t.Errorf("autostop: %v", err)
	}
	done("autostop")
	clusters, err := c.Status(ctx, []string{cluster})
	if err != nil || len(clusters) != 1 {
		t.Fatalf("status: %+v, %v", clusters, err)
	}
	if got := clusters[0]; got.Status != "UP" || got.Autostop != 30 || !got.ToDown || got.Cloud != "Slurm" || got.Region != "tests" || got.Nodes != 1 || got.LaunchedAt == 0 {
		t.Errorf("status: %+v", got)
	}
	done("status")
	if clusters, err = c.Refresh(ctx, []string{cluster}); err != nil || len(clusters) != 1 || clusters[0].Status != "UP" {
		t.Errorf("refresh: %+v, %v", clusters, err)
	}
	done("refresh")

	costs, err := c.Costs(ctx, []string{cluster})
	if err != nil || len(costs) != 1 || costs[0].Seconds == 0 || costs[0].Dollars != 0 {
		t.Errorf("costs: %+v, %v", costs, err)
	}
	offers, err := c.Offers(ctx, "H100", 2, "slurm")
	if err != nil || len(offers) != 1 || offers[0].Price != 0 {
		t.Errorf("offers: %+v, %v", offers, err)
	}
	done("prices")

	if err := c.Down(ctx, cluster); err != nil {
		t.Errorf("down: %v", err)
	}
	done("down")
	if clusters, err := c.Status(ctx, []string{cluster}); err != nil || len(clusters) != 0 {
		t.Errorf("status after down: %+v, %v", clusters, err)
	}
	if err := c.Down(ctx, cluster); !api.NoSuchCluster(err) {
		t.Errorf("down again: %v", err)
	}
	if err := c.Autostop(ctx, cluster, 30, true); !api.NoSuchCluster(err) {
		t.Errorf("autostop after down: %v", err)
	}
	if err := c.Logs(ctx, &log, cluster, 1, 0, false); !api.NoSuchCluster(err) {
		t.Errorf("logs after down: %v", err)
	}

	// What is asked for cannot be had, and a launch that is cancelled can be removed.
	task.Resources.CPUs = "1000"
	if request, err = c.Launch(ctx, cluster, task); err == nil {
		_, err = c.WaitLaunched(ctx, request)
	}
	if api.KindOf(err) != api.KindInvalid {
		t.Errorf("too many processors: %v", err)
	}
	task.Resources.CPUs = "1"
	if request, err = c.Launch(ctx, cluster, task); err != nil {
		t.Fatal(err)
	}
	for {
		clusters, err := c.Status(ctx, []string{cluster})
		if err != nil {
			t.Fatal(err)
		}
		if len(clusters) > 0 {
			break
		}
	}
	if err := c.Cancel(ctx, request); err != nil {
		t.Errorf("cancel: %v", err)
	}
	if _, err := c.WaitLaunched(ctx, request); api.KindOf(err) != api.KindEnded {
		t.Errorf("cancelled launch: %v", err)
	}
	if err := c.Down(ctx, cluster); err != nil {
		t.Errorf("down of a cancelled launch: %v", err)
	}
	done("cancelled")
}
