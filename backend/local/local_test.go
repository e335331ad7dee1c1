//go:build unix

package local_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

func TestMain(m *testing.M) {
	os.Exit(backendtest.Main(m))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, level := range []isolation.Level{isolation.Full, isolation.Partial, isolation.None} {
		t.Run(string(level), func(t *testing.T) {
			need(t, level)
			if level != isolation.Full { // available on most machines
				longtest.Skip(t)
			}
			t.Parallel()
			backendtest.TestBackend(t, opener(level, ""))
		})
	}
}

// need skips a test that the machine is too closed for.
func need(t *testing.T, level isolation.Level) {
	t.Helper()
	b := local.New(cache.NewMemory(), local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Confinement: local.Confinement{Isolation: string(level)}})
	if _, err := b.Isolation(); err != nil {
		if os.Getenv("FEVALGRAPH_TEST_REAL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// opener opens backends of a level, with a network of a kind, that must leave nothing
// behind.
func opener(level isolation.Level, network backend.Network) backendtest.Opener {
	return func(t *testing.T) (backend.Backend, cache.Store) {
		dir, store := t.TempDir(), cache.NewMemory()
		registry, err := backend.OpenRegistry(filepath.Join(dir, "sessions"), "run")
		if err != nil {
			t.Fatal(err)
		}
		scratch := filepath.Join(dir, "scratch")
		t.Cleanup(func() {
			if err := registry.Close(); err != nil {
				t.Error(err)
			}
			for _, d := range []string{"sessions", "scratch"} {
				if left, err := os.ReadDir(filepath.Join(dir, d)); len(left) > 0 {
					t.Errorf("left in %s: %v, %v", d, left, err)
				}
			}
		})
		return local.New(store, local.Options{
			Lifecycle:   local.Lifecycle{Scratch: scratch, Registry: registry, Grace: time.Second},
			Probes:      local.Probes{Path: backendtest.Path},
			Network:     network,
			Confinement: local.Confinement{Isolation: string(level)},
		}), store
	}
}

func open(t *testing.T, o local.Options, spec backend.Spec) backend.Session {
	t.Helper()
	s, err := local.New(cache.NewMemory(), o).Open(t.Context(), spec)
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

func TestWorkspaceIsPrivate(t *testing.T) {
	s := open(t, local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}}, backend.Spec{})
	info, err := os.Stat(filepath.Dir(s.Dir()))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the workspace's mode is %v, %v", info.Mode(), err)
	}
}

func TestScratchBehindSymlink(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	s := open(t, local.Options{Lifecycle: local.Lifecycle{Scratch: link}}, backend.Spec{})
	if resolved, err := filepath.EvalSymlinks(s.Dir()); err != nil || resolved != s.Dir() {
		t.Errorf("%s is really %s, %v", s.Dir(), resolved, err)
	}
}

// A session that cannot be opened leaves nothing, and a session that cannot be listed is not made.
func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	registry, err := backend.OpenRegistry(filepath.Join(dir, "sessions"), "run")
	if err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(dir, "scratch")
	b := local.New(cache.NewMemory(), local.Options{Lifecycle: local.Lifecycle{Scratch: scratch, Registry: registry}})
	missing := cache.SumBytes([]byte("never stored"))
	_, err = b.Open(t.Context(), backend.Spec{Inputs: []backend.Input{{Path: "t", Tree: missing}}})
	if want := (*cache.MissingError)(nil); !errors.As(err, &want) {
		t.Errorf("got %v, want a *MissingError", err)
	}
	if err := registry.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err = b.Open(t.Context(), backend.Spec{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("with a closed registry: %v", err)
	}
	for _, d := range []string{"sessions", "scratch"} {
		if left, err := os.ReadDir(filepath.Join(dir, d)); err != nil || len(left) > 0 {
			t.Errorf("left in %s: %v, %v", d, left, err)
		}
	}
}

// Without a PATH in the command's environment the backend's counts.
func TestBackendPath(t *testing.T) {
	s := open(t, local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}}, backend.Spec{})
	var out bytes.Buffer
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"echo", "found"}, Output: &out})
	if err != nil || exit.Code != 0 || strings.TrimSpace(out.String()) != "found" {
		t.Errorf("got %+v, %v, %q", exit, err, out.String())
	}
}

// A reader that is slower than the bound for silent pipes gets everything.
func TestSlowOutput(t *testing.T) {
	t.Parallel()
	s := open(t, local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}}, backend.Spec{})
	w := &slow{delay: 1100 * time.Millisecond}
	_, err := s.Exec(t.Context(), backend.Command{Argv: []string{"sh", "-c", "head -c 60000 /dev/zero"}, Output: w})
	if err != nil || w.n != 60000 {
		t.Errorf("got %d bytes, %v", w.n, err)
	}
}

type slow struct {
	delay time.Duration
	n     int
}

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(s.delay)
	s.n += len(p)
	return len(p), nil
}
