package docker_test

import (
	"context"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
)

// TestOverhead holds a session with one command, two placings and a collected
// file to what create, start, wait and remove of the same image cost by
// themselves. They take turns, so that both see the same machine.
func TestOverhead(t *testing.T) {
	if os.Getenv("FEVALGRAPH_TEST_OVERHEAD") == "" {
		t.Skip("measures; set FEVALGRAPH_TEST_OVERHEAD")
	}
	d := daemon(t)
	api, err := client.NewClientWithOpts(client.WithHost(os.Getenv("DOCKER_HOST")), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	b, _ := opener(d, docker.Options{Image: pythonImage})(t)
	if _, err := b.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	var bare, ours []time.Duration
	for range 20 {
		bare = append(bare, took(t, func() error { return runBare(t.Context(), api) }))
		ours = append(ours, took(t, func() error { return runCell(t.Context(), b) }))
	}
	slices.Sort(bare)
	slices.Sort(ours)
	m := func(d []time.Duration) time.Duration { return d[len(d)/2] }
	t.Logf("bare %v (best %v), cell %v (best %v), ratio of medians %.2f", m(bare), bare[0], m(ours), ours[0], float64(m(ours))/float64(m(bare)))
}

func took(t *testing.T, f func() error) time.Duration {
	t.Helper()
	began := time.Now()
	if err := f(); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

func runBare(ctx context.Context, api *client.Client) error {
	made, err := api.ContainerCreate(ctx, &container.Config{Image: pythonImage, Cmd: []string{"true"}}, &container.HostConfig{}, nil, nil, "")
	if err != nil {
		return err
	}
	status, failed := api.ContainerWait(ctx, made.ID, container.WaitConditionNextExit)
	if err := api.ContainerStart(ctx, made.ID, container.StartOptions{}); err != nil {
		return err
	}
	select {
	case <-status:
	case err := <-failed:
		return err
	}
	return api.ContainerRemove(ctx, made.ID, container.RemoveOptions{})
}

func runCell(ctx context.Context, b backend.Backend) error {
	s, err := b.Open(ctx, backend.Spec{Inputs: []backend.Input{{Path: "main.py", Content: []byte("print(1)\n")}}})
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	if err := s.Place(ctx, backend.Input{Path: "tests/test_x.py", Content: []byte("x")}); err != nil {
		return err
	}
	if _, err := s.Exec(ctx, backend.Command{Argv: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin"}}); err != nil {
		return err
	}
	r, err := s.Collect(ctx, "tests/test_x.py")
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	r.Close()
	if err != nil {
		return err
	}
	return s.Close(ctx)
}
