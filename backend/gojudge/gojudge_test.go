//go:build unix

package gojudge_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/cache"
)

// binary returns the path of the go-judge for tests, which "make test" builds. One test fails, instead of
// skipping, with it.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("FEVALGRAPH_TEST_GOJUDGE")
	if path == "" {
		t.Skip("it needs go-judge; run: make test")
	}
	return path
}

var versions = []string{"/usr/bin/g++ --version", "/usr/bin/awk -W version", "/usr/bin/there-is-no-such-tool --version"}

// start returns a server of the test's own.
func start(t *testing.T, store cache.Store) *gojudge.Server {
	t.Helper()
	s := gojudge.Start(store, gojudge.Process{Binary: binary(t), Path: os.Getenv("PATH"), Scratch: t.TempDir()})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

func newStore(t *testing.T) cache.Store {
	t.Helper()
	store, err := cache.OpenDisk(filepath.Join(t.TempDir(), "store"), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestConformance(t *testing.T) {
	store := newStore(t)
	s := start(t, store)
	backendtest.TestSandbox(t, func(*testing.T) (backend.Sandbox, cache.Store) {
		return gojudge.New(s, gojudge.Options{Versions: versions}), store
	})
}

// The same, of a server that runs already.
func TestEndpointConformance(t *testing.T) {
	store := newStore(t)
	s := gojudge.Connect(store, "http://"+listen(t, t.TempDir(), "s3cr3t"), "s3cr3t")
	defer s.Close()
	backendtest.TestSandbox(t, func(*testing.T) (backend.Sandbox, cache.Store) {
		return gojudge.New(s, gojudge.Options{}), store
	})
}
