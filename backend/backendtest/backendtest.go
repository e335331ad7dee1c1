// Package backendtest is the conformance suite that every backend passes: the
// contract of package backend as tests.
//
// It knows no backend and looks at sessions only through the interface, plus
// the host's file system where a path of the host must stay untouched.
// Programs are /bin/sh and what every Linux image has beside it; set-up of
// services is the caller's.
package backendtest

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Path is the PATH of the suite's commands.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// prompt bounds how long anything that should end at once can take on a busy machine: it separates hanging operations
// from slow ones.
const prompt = 3 * time.Minute

// limits are tried one after the other where a program has to do something before
// its limit is over, which on a busy machine takes as long as it takes.
var limits = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, prompt}

// Opener returns a fresh backend and the store that its inputs come from.
type Opener func(t *testing.T) (backend.Backend, cache.Store)

// TestBackend runs the whole suite. The package's TestMain must call Main.
// ambient names the variables that the backend's place sets by itself, such as
// those of an image.
func TestBackend(t *testing.T, open func(t *testing.T) (backend.Backend, cache.Store), ambient ...string) {
	t.Run("Files", func(t *testing.T) { TestFiles(t, open) })
	t.Run("Programs", func(t *testing.T) { TestPrograms(t, open, ambient...) })
	t.Run("Endings", func(t *testing.T) { TestEndings(t, open) })
	t.Run("Ports", func(t *testing.T) { TestPorts(t, open) })
}

// node is a file, symlink (Link) or empty directory (Dir) of a tree.
type node struct {
	Path, Content, Link string
	Executable, Dir     bool
}

// putTree stores a tree of nodes.
func putTree(t *testing.T, store cache.Store, nodes ...node) cache.Digest {
	t.Helper()
	var entries []cache.Entry
	for _, n := range nodes {
		e := cache.Entry{Path: n.Path, Link: n.Link, Dir: n.Dir, Executable: n.Executable}
		if n.Link == "" && !n.Dir {
			digest, err := cache.PutBytes(t.Context(), store, []byte(n.Content))
			if err != nil {
				t.Fatal(err)
			}
			e.Digest = digest
		}
		entries = append(entries, e)
	}
	tree, err := cache.BuildTree(entries)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Store(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return tree.Root
}

// session opens a session that the test closes at its end at the latest.
func session(t *testing.T, b backend.Backend, inputs ...backend.Input) backend.Session {
	t.Helper()
	s, err := b.Open(t.Context(), backend.Spec{Name: t.Name(), Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

// shell returns a command that runs a script.
func shell(script string) backend.Command {
	return backend.Command{Argv: []string{"sh", "-c", script}, Env: []string{"PATH=" + Path}}
}

// exec runs a command that must not be broken and returns its output.
func exec(t *testing.T, s backend.Session, cmd backend.Command) (backend.Exit, string) {
	t.Helper()
	var out bytes.Buffer
	cmd.Output = &out
	exit, err := s.Exec(t.Context(), cmd)
	if err != nil {
		t.Fatalf("running %q: %v\n%s", cmd.Argv, err, out.String())
	}
	return exit, out.String()
}

// run runs a script that must succeed and returns its trimmed output.
func run(t *testing.T, s backend.Session, script string) string {
	t.Helper()
	exit, out := exec(t, s, shell(script))
	if exit.Code != 0 || exit.Signal != "" || exit.TimedOut {
		t.Fatalf("script ended with %+v:\n%s\noutput:\n%s", exit, script, out)
	}
	return strings.TrimSpace(out)
}

// collect reads a file of the workspace.
func collect(t *testing.T, s backend.Session, path string) (string, error) {
	t.Helper()
	r, err := s.Collect(t.Context(), path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("reading %q: %v", path, err)
	}
	return string(content), nil
}
