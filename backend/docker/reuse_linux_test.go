package docker_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
)

// reusing opens a backend whose containers are reused. They can be on the test's
// daemon only where its files can be looked at.
func reusing(t *testing.T, d *docker.Daemon, o docker.Options) *docker.Backend {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs to see what containers write, and so root")
	}
	o.Reuse = true
	if o.Network == "" {
		o.Network = "none"
	}
	b, _ := opener(d, o)(t)
	return b.(*docker.Backend)
}

// ids are the containers of a run.
func ids(t *testing.T, api *client.Client) []string {
	t.Helper()
	var ids []string
	for _, c := range containers(t, api, t.Name()) {
		if c.State == "running" {
			t.Errorf("container %s runs", c.ID)
		}
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

// One container has one session after the other, and each finds its own inputs
// alone: no file of the one before in any place that it may write to, and no
// process.
func TestReuse(t *testing.T) {
	d, api := daemon(t), hands(t)
	b := reusing(t, d, docker.Options{Image: pythonImage})
	const mess = `echo x >own; mkdir -p d/e; echo x >d/e/f; chmod 0 d
echo x >"$HOME/own"; echo x >"$TMPDIR/own"; echo x >/dev/shm/own
(trap '' TERM HUP; exec sleep 1000) >/dev/null 2>&1 & cat in`
	var first []string
	for i, in := range []string{"one", "two", "three"} {
		s := open(t, b, backend.Spec{Name: in, Inputs: []backend.Input{{Path: "in", Content: []byte(in)}}})
		const look = `ls -A . "$HOME" "$TMPDIR" /dev/shm | tr '\n' ' '; cat /proc/[0-9]*/comm | grep -c sleep; true`
		if got := output(t, s, sh(look)); strings.Contains(got, "own") || !strings.HasSuffix(strings.TrimSpace(got), "0") || !strings.Contains(got, "in ") {
			t.Errorf("session %d finds %q", i, got)
		}
		if got := output(t, s, sh(mess)); got != in {
			t.Errorf("session %d has the input %q, want %q", i, got, in)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := ids(t, api)
		if i == 0 {
			first = now
		}
		if len(now) != 1 || !slices.Equal(now, first) {
			t.Fatalf("after session %d there are the containers %v, after the first %v", i, now, first)
		}
	}
	// Two at a time have one each.
	a, c := open(t, b, backend.Spec{}), open(t, b, backend.Spec{})
	output(t, a, sh("true"))
	output(t, c, sh("true"))
	for _, s := range []backend.Session{a, c} {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if now := ids(t, api); len(now) != 2 {
		t.Errorf("two sessions at a time have %d containers", len(now))
	}
	if err := b.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if left := ids(t, api); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	// A session that outlives the pool leaves nothing there.
	s := open(t, b, backend.Spec{})
	output(t, s, sh("true"))
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := ids(t, api); len(left) > 0 {
		t.Errorf("left after the last session: %v", left)
	}
}

// What a container was left with, or how, that is not as it was made goes with
// it, also what the daemon's own list of changes does not show.
func TestNoReuse(t *testing.T) {
	d, api := daemon(t), hands(t)
	// An image in which the commands' user owns something.
	made, err := api.ContainerCreate(t.Context(), &container.Config{Image: pythonImage, User: "0:0", Entrypoint: []string{"/bin/sh", "-c",
		"mkdir /owned /owned/d && echo abc >/owned/f && chown -R 1000:1000 /owned"}}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = api.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true}) }()
	wait, failed := api.ContainerWait(t.Context(), made.ID, container.WaitConditionNextExit)
	if err := api.ContainerStart(t.Context(), made.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-wait:
	case err := <-failed:
		t.Fatal(err)
	}
	commit := func(changes ...string) string {
		made, err := api.ContainerCommit(t.Context(), made.ID, container.CommitOptions{Changes: changes})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := api.ImageRemove(context.Background(), made.ID, image.RemoveOptions{Force: true}); err != nil {
				t.Error(err)
			}
		})
		return made.ID
	}
	owned, volume := commit(), commit("VOLUME /owned")
	for _, test := range []struct {
		name    string
		options docker.Options
		command string
		limit   time.Duration
		reused  int // containers
	}{
		{"nothing", docker.Options{Image: owned}, "cat /owned/f; echo x >>/etc/passwd || true", 0, 1},
		{"nothing, with code 1", docker.Options{}, "exit 1", 0, 1},
		{"a file", docker.Options{}, "echo x >/tmp/mess", 0, 0},
		{"a file that is gone again", docker.Options{Image: owned}, "echo x >/owned/mess; rm /owned/mess", 0, 0},
		{"content behind the same size and times", docker.Options{Image: owned}, "touch -r /owned/f ref && echo xyz >/owned/f && touch -r ref /owned/f", 0, 0},
		{"an attribute", docker.Options{Image: owned}, `python3 -c 'import os; os.setxattr("/owned/d", "user.mess", b"x")' || touch /owned/d`, 0, 0},
		{"a removed file", docker.Options{Image: owned}, "rm /owned/f", 0, 0},
		{"where the user may write beside the workspace", docker.Options{Image: owned, Workdir: "/owned/d/w"}, "true", 0, 0},
		{"a volume of the image", docker.Options{Image: volume}, "true", 0, 0},
		{"root", docker.Options{User: "root"}, "true", 0, 0},
		{"a time limit", docker.Options{}, "sleep 1000", 300 * time.Millisecond, 0},
		{"copied files", docker.Options{Copy: true}, "true", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.options.Image == "" {
				test.options.Image = pythonImage
			}
			b := reusing(t, d, test.options)
			s := open(t, b, backend.Spec{})
			cmd := sh(test.command)
			cmd.Timeout = test.limit
			exit, err := s.Exec(t.Context(), cmd)
			if err != nil || exit.TimedOut != (test.limit > 0) || test.limit == 0 && exit.Code != 0 && test.command != "exit 1" {
				t.Fatalf("got %+v, %v", exit, err)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := ids(t, api); len(left) != test.reused {
				t.Errorf("%d containers wait for another session, want %d", len(left), test.reused)
			}
		})
	}
}

// A container that another client removes while it waits is not missed.
func TestReuseRemoved(t *testing.T) {
	d, api := daemon(t), hands(t)
	b := reusing(t, d, docker.Options{Image: baseImage})
	for range 2 {
		s := open(t, b, backend.Spec{})
		output(t, s, sh("true"))
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids(t, api) {
			if err := api.ContainerRemove(t.Context(), id, container.RemoveOptions{Force: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
