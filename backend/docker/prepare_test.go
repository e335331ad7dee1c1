package docker_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
)

// removeSnapshots removes Prepare's snapshots for a project when the test ends.
func removeSnapshots(t *testing.T, d *docker.Daemon, project string) {
	t.Cleanup(func() {
		left, err := d.Leftovers(context.Background(), project)
		for _, l := range left {
			if err := d.Remove(context.Background(), l); err != nil {
				t.Error(err)
			}
		}
		if after, err := d.Leftovers(context.Background(), project); err != nil || len(after) > 0 {
			t.Errorf("left: %+v, %v", after, err)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func sh(script string) backend.Command {
	return backend.Command{Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
}

// output runs a command that must exit with 0.
func output(t *testing.T, s backend.Session, cmd backend.Command) string {
	t.Helper()
	var out bytes.Buffer
	cmd.Output = &out
	exit, err := s.Exec(t.Context(), cmd)
	if err != nil || exit.Code != 0 || exit.Signal != "" {
		t.Fatalf("%q: %+v, %v\n%s", cmd.Argv, exit, err, out.String())
	}
	return strings.TrimSpace(out.String())
}

func open(t *testing.T, b backend.Backend, spec backend.Spec) backend.Session {
	t.Helper()
	s, err := b.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// The files of a snapshot are available to all its sessions, offline, and no command can change it.
func TestSnapshot(t *testing.T) {
	d := daemon(t)
	removeSnapshots(t, d, t.Name())
	for _, o := range []docker.Options{{}, {Copy: true}, {Privileges: docker.Privileges{User: "0:0"}}, {Privileges: docker.Privileges{User: "0:0"}, Copy: true}} {
		o.Image, o.Network, o.Project = baseImage, "none", t.Name()
		b, _ := opener(d, o)(t)
		fetch := sh(`grep -q eth0 /proc/net/dev && echo fetched | tee "$XDG_CACHE_HOME/wheel" > "$HOME/f"
			cd ` + docker.PreparedPath + ` && echo made > file && ln file link && ln -s file symlink && mkdir -m 700 private && echo '#!/bin/sh' > private/run && chmod 700 private/run`)
		snapshot, exit, err := b.Prepare(t.Context(), "fetch", fetch)
		if err != nil || exit.Code != 0 || snapshot == "" {
			t.Fatalf("got %q, %+v, %v", snapshot, exit, err)
		}
		first := open(t, b, backend.Spec{Snapshot: snapshot})
		second := open(t, b, backend.Spec{Snapshot: snapshot})
		const show = `cd ` + docker.PreparedPath + ` && cat file link symlink && private/run && ls -A "$HOME" && ! grep -q eth0 /proc/net/dev`
		if got := output(t, first, sh(show)); got != "made\nmade\nmade" {
			t.Errorf("got %q", got)
		}
		online := sh(`cd ` + docker.PreparedPath + ` && for do in 'echo x >file' 'chmod 666 file' 'chmod 777 .' 'rm -f file' 'mv private other' 'echo x >new' 'mv ../prepared ../other' 'rm -rf ../prepared'; do
			! sh -c "$do" 2>/dev/null || echo "$do"; done; mkdir -p "$XDG_CACHE_HOME" && echo mine > "$XDG_CACHE_HOME/wheel"`)
		online.Online = true
		if got := output(t, first, online); got != "" {
			t.Errorf("a set-up command did %q", got)
		}
		for _, s := range []backend.Session{first, second} {
			if got := output(t, s, sh("rm -rf $HOME/.cache; "+show)); got != "made\nmade\nmade" {
				t.Errorf("afterwards: %q", got)
			}
		}
		// It is made once, for all callers.
		other, _ := opener(d, o)(t)
		if again, _, err := other.Prepare(t.Context(), "fetch", sh("exit 1")); err != nil || again != snapshot {
			t.Errorf("a second time: %q, %v", again, err)
		}
		if another, _, err := b.Prepare(t.Context(), "another", fetch); err != nil || another == snapshot {
			t.Errorf("under another name: %q, %v", another, err)
		}
		if bare := open(t, b, backend.Spec{}); output(t, bare, sh(`echo "$XDG_CACHE_HOME"; ls -d /fevalgraph/prepared || true`)) != "ls: /fevalgraph/prepared: No such file or directory" {
			t.Error("a session without a snapshot has its files")
		}
	}
}

func TestSnapshotFails(t *testing.T) {
	d := daemon(t)
	removeSnapshots(t, d, t.Name())
	b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Lifecycle: docker.Lifecycle{Project: t.Name()}})(t)
	var out bytes.Buffer
	cmd := sh("echo no network; exit 3")
	cmd.Output = &out
	snapshot, exit, err := b.Prepare(t.Context(), "fails", cmd)
	if err != nil || snapshot != "" || exit.Code != 3 || out.String() != "no network\n" {
		t.Errorf("got %q, %+v, %v, %q", snapshot, exit, err, out.String())
	}
	// That is not remembered.
	if snapshot, exit, err := b.Prepare(t.Context(), "fails", sh("exit 0")); err != nil || exit.Code != 0 || snapshot == "" {
		t.Errorf("got %q, %+v, %v", snapshot, exit, err)
	}
	if _, err := b.Open(t.Context(), backend.Spec{Snapshot: "fevalgraph/snapshot:gone"}); err == nil || !strings.Contains(err.Error(), "fevalgraph/snapshot:gone") {
		t.Errorf("on a snapshot that has gone: %v", err)
	}
}
