//go:build unix

package docker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// hands returns another client of the same daemon.
func hands(t *testing.T) *client.Client {
	t.Helper()
	api, err := client.NewClientWithOpts(client.WithHost(os.Getenv("DOCKER_HOST")), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	return api
}

// containers lists the containers of a run.
func containers(t *testing.T, api *client.Client, run string) []container.Summary {
	t.Helper()
	found, err := api.ContainerList(context.Background(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", docker.LabelRun+"="+run))})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// signalled is closed when the first byte is written.
type signalled chan struct{}

func (s signalled) Write(p []byte) (int, error) {
	select {
	case <-s:
	default:
		close(s)
	}
	return len(p), nil
}

// Interference by others with a container is never the program's failure.
func TestInterference(t *testing.T) {
	d := daemon(t)
	api := hands(t)
	for _, test := range []struct {
		name string
		do   func(c container.Summary) error
		want string
	}{
		{"kill -9 of the init", func(c container.Summary) error {
			found, err := api.ContainerInspect(t.Context(), c.ID)
			if err != nil {
				return err
			}
			return syscall.Kill(found.State.Pid, syscall.SIGKILL)
		}, "something outside of the container ended it"},
		{"docker kill", func(c container.Summary) error { return api.ContainerKill(t.Context(), c.ID, "KILL") }, "something outside of the container ended it"},
		{"docker stop", func(c container.Summary) error { return api.ContainerStop(t.Context(), c.ID, container.StopOptions{}) }, "something outside of the container ended it"},
		{"docker rm", func(c container.Summary) error {
			return api.ContainerRemove(t.Context(), c.ID, container.RemoveOptions{Force: true})
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "none"}})(t)
			s := open(t, b, backend.Spec{})
			ready := make(signalled)
			cmd := sh(`echo ready; while :; do sleep 0.1; done`)
			cmd.Output, cmd.Timeout = ready, guard
			done := make(chan error, 1)
			go func() {
				<-ready
				found := containers(t, api, t.Name())
				if len(found) != 1 {
					t.Errorf("%d containers of the run", len(found))
				}
				done <- test.do(found[0])
			}()
			exit, err := s.Exec(t.Context(), cmd)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %+v, %v; want %q", exit, err, test.want)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Errorf("closing: %v", err)
			}
		})
	}
}

// Leftovers of a dead run are removed by the next start.
func TestReap(t *testing.T) {
	d := daemon(t)
	api := hands(t)
	for _, setting := range []struct {
		copy bool
		on   string
	}{{false, "none"}, {true, "none"}, {false, "bridge"}} {
		dir := t.TempDir()
		sessions, scratch := filepath.Join(dir, "sessions"), filepath.Join(dir, "scratch")
		registry, err := backend.OpenRegistry(sessions, "run")
		if err != nil {
			t.Fatal(err)
		}
		b := docker.New(cache.NewMemory(), d, docker.Options{
			Program:   program,
			Origin:    docker.Origin{Image: baseImage},
			Reach:     docker.Reach{Network: setting.on},
			Copy:      setting.copy,
			Lifecycle: docker.Lifecycle{Scratch: scratch, Project: "test", Run: t.Name(), Registry: registry},
		})
		for _, spec := range []backend.Spec{{Name: "left"}, {Name: "never used"}, {Name: "kept"}} {
			spec.Inputs = []backend.Input{{Path: "f", Content: []byte("x")}}
			s, err := b.Open(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if spec.Name != "never used" {
				output(t, s, sh("cat f"))
			}
			if spec.Name == "kept" {
				if _, err := b.Capabilities().Keep(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := registry.Close(); err != nil { // as if the process had died
			t.Fatal(err)
		}
		connect := func(host string) (*docker.Daemon, error) { return docker.Connect(docker.Endpoint{Host: host}) }
		reaped, err := backend.Reap(t.Context(), sessions, map[string]func(context.Context, backend.Entry) error{docker.Kind: docker.Reaper(connect)})
		if want := map[string]int{"none": 3, "bridge": 5}[setting.on]; err != nil || len(reaped) != want {
			t.Errorf("reaped %+v, %v", reaped, err)
		}
		for _, r := range reaped {
			if r.Err != nil {
				t.Errorf("%s: %v", r.Entry.Name, r.Err)
			}
		}
		left := containers(t, api, t.Name())
		if len(left) != 1 || left[0].Labels[docker.LabelNode] != "kept" || left[0].State == "running" {
			t.Errorf("left: %+v", left)
		}
		if left := networks(t, api, t.Name()); len(left) > 0 {
			t.Errorf("networks are left: %+v", left)
		}
		for _, c := range left {
			if err := api.ContainerStart(t.Context(), c.ID, container.StartOptions{}); err != nil {
				t.Errorf("starting what was kept: %v", err)
			}
			if err := d.Remove(t.Context(), docker.Leftover{ID: c.ID}); err != nil {
				t.Error(err)
			}
		}
	}
}

// A registry entry that was damaged removes nothing.
func TestReapDamaged(t *testing.T) {
	reap := docker.Reaper(func(string) (*docker.Daemon, error) {
		t.Error("a request to the daemon")
		return docker.Connect(docker.Endpoint{Host: "unix:///nowhere"})
	})
	for _, e := range []backend.Entry{
		{ID: "abcdefghij"},
		{ID: "abcdefghij", Host: "unix:///x", Workspace: "/home"},
		{ID: "abcdefghij", Host: "unix:///x", Workspace: "relative/abcdefghij"},
	} {
		if err := reap(t.Context(), e); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
