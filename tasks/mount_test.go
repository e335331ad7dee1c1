package tasks

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

func newMount(t *testing.T, source string) *Mount {
	index, err := cache.OpenFileIndex(filepath.Join(t.TempDir(), "files"), proof.Place{})
	if err != nil {
		t.Fatal(err)
	}
	return &Mount{Name: "mount /data", Hint: `content = "unhashed"`, Source: source, States: index, RemoteHost: func() string { return "" }}
}

// content returns the digest of the task's output.
func content(t *testing.T, m *Mount) cache.Digest {
	t.Helper()
	if err := m.Describe(t.Context(), &graph.Manifest{}); err != nil {
		t.Fatal(err)
	}
	outputs, err := m.Predict()
	if err != nil {
		t.Fatal(err)
	}
	return outputs[0].Digest
}

// Any difference of a mount that commands can see makes it another mount; its path on the machine does not.
func TestMount(t *testing.T) {
	do := func(steps ...error) {
		t.Helper()
		if err := errors.Join(steps...); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	at := func(name string) string { return filepath.Join(dir, name) }
	do(os.MkdirAll(at("sub/empty"), 0o755), os.WriteFile(at("sub/f"), []byte("one"), 0o644), os.Symlink("/etc/hosts", at("out")))
	m := newMount(t, dir)
	last := content(t, m)
	if content(t, m) != last {
		t.Error("it differs from itself")
	}
	for _, step := range []struct {
		name string
		do   func() error
		same bool
	}{
		{"content of the same size", func() error { return os.WriteFile(at("sub/f"), []byte("two"), 0o644) }, false},
		{"mode", func() error { return os.Chmod(at("sub/f"), 0o755) }, false},
		{"permission to read", func() error { return os.Chmod(at("sub/f"), 0o700) }, false},
		{"mode of a directory", func() error { return os.Chmod(at("sub/empty"), 0o555) }, false},
		{"name", func() error { return os.Rename(at("sub/f"), at("sub/g")) }, false},
		{"added", func() error { return os.WriteFile(at("sub/f"), nil, 0o644) }, false},
		{"deleted", func() error { return os.Remove(at("sub/f")) }, false},
		{"empty directory", func() error { return os.Remove(at("sub/empty")) }, false},
		{"target of a link", func() error {
			return errors.Join(os.Remove(at("out")), os.Symlink("/etc/passwd", at("out")))
		}, false},
		{"place", func() error {
			moved := dir + "-moved"
			m = newMount(t, moved)
			return os.Rename(dir, moved)
		}, true},
	} {
		before := m
		do(step.do())
		if step.same {
			if now := content(t, m); now != last {
				t.Errorf("%s: it is another", step.name)
			}
			continue
		}
		if err := before.Unchanged(); err == nil || !strings.HasPrefix(err.Error(), "the mount /data changed during the run: "+dir) {
			t.Errorf("%s: it goes unnoticed: %v", step.name, err)
		}
		now := content(t, m)
		if now == last {
			t.Errorf("%s: it is the same", step.name)
		}
		if err := m.Unchanged(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		last = now
	}
}

// The error names what changed, but no more than a user reads.
func TestMountNamesWhatChanged(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"kept", "gone", "edited"} {
		if err := os.WriteFile(at(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := newMount(t, dir)
	content(t, m)
	err := errors.Join(os.WriteFile(at("edited"), []byte("more"), 0o644), os.Remove(at("gone")))
	for _, name := range []string{"new", "new 2"} {
		err = errors.Join(err, os.WriteFile(at(name), nil, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	want := "the mount /data changed during the run: " + at("edited") + ", " + at("new") + ", " + at("new 2") +
		`, 1 more (hint: run again; if the commands themselves write there, content = "unhashed")`
	if err := m.Unchanged(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestMountOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := newMount(t, file)
	before := content(t, m)
	if err := os.WriteFile(file, []byte("two!"), 0o644); err != nil {
		t.Fatal(err)
	}
	if content(t, m) == before {
		t.Error("it is the same")
	}
}

// An unhashable file is a user error, and is never ignored.
func TestMountCannotBeHashed(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	far := newMount(t, dir)
	far.RemoteHost = func() string { return "the daemon at tcp://far:2376" }
	for _, try := range []struct {
		m    *Mount
		want string
	}{
		{newMount(t, dir), `is a socket, which cannot be hashed (hint: content = "unhashed"`},
		{newMount(t, filepath.Join(dir, "absent")), "/absent not found (hint"},
		{far, "is on another machine, of the daemon at tcp://far:2376, and cannot be read here (hint: content = "},
	} {
		err := try.m.Describe(t.Context(), &graph.Manifest{})
		if err == nil || !graph.IsInput(err) || !strings.Contains(err.Error(), try.want) {
			t.Errorf("got %v, want %q", err, try.want)
		}
	}
}
