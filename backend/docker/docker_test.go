package docker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/workerprogram"
)

// program is the runner of containers.
var program string

func TestMain(m *testing.M) {
	if os.Getenv("FEVALGRAPH_TEST_DOCKER") != "" {
		program = filepath.Join(filepath.Dir(os.Args[0]), "fevalgraph-worker")
		if err := workerprogram.Build(program); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(backendtest.Main(m))
}

// Images of the tests: one is busybox, the other has glibc, Python and uv.
const (
	baseImage   = "fevalgraph-test/base:latest"
	pythonImage = "fevalgraph-test/python:latest"
)

// daemon returns the tests' daemon and allows the caller to run in parallel, since starting and removing containers
// takes most of the time. Without a daemon the test skips; the caller can set FEVALGRAPH_TEST_DOCKER.
func daemon(t *testing.T) *docker.Daemon {
	t.Helper()
	if os.Getenv("FEVALGRAPH_TEST_DOCKER") == "" {
		t.Skip("needs a Docker daemon; make test has one")
	}
	t.Parallel()
	d, err := docker.Connect(docker.Endpoint{Host: os.Getenv("DOCKER_HOST")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestConformance(t *testing.T) {
	d := daemon(t)
	// The suite's own program needs the C library that it was linked with.
	t.Run("mounted", func(t *testing.T) {
		t.Parallel()
		backendtest.TestBackend(t, opener(d, docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Network: "none"}}), "SSL_CERT_FILE", "UV_FIND_LINKS", "UV_OFFLINE")
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		for _, o := range []docker.Options{{}, {Privileges: docker.Privileges{User: "0:0"}}, {Copy: true}, {Copy: true, Privileges: docker.Privileges{User: "0:0"}}} {
			o.Image = baseImage
			backendtest.TestReadOnly(t, opener(d, o))
		}
	})
	t.Run("places", func(t *testing.T) {
		t.Parallel()
		for _, o := range []docker.Options{{Origin: docker.Origin{Image: baseImage}}, {Origin: docker.Origin{Image: baseImage}, Privileges: docker.Privileges{ImageUser: true}}, {Origin: docker.Origin{Image: baseImage}, Copy: true}} {
			backendtest.TestPlaces(t, opener(d, o))
		}
	})
	// The runner is the same however files get in.
	t.Run("copied", func(t *testing.T) {
		t.Parallel()
		backendtest.TestFiles(t, opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Copy: true}))
	})
}

// opener opens backends that must leave nothing behind.
func opener(d *docker.Daemon, o docker.Options) backendtest.Opener {
	return func(t *testing.T) (backend.Backend, cache.Store) {
		dir, store := t.TempDir(), cache.NewMemory()
		registry, err := backend.OpenRegistry(filepath.Join(dir, "sessions"), "run")
		if err != nil {
			t.Fatal(err)
		}
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
		o := o
		o.Program = program
		o.Scratch, o.Registry = filepath.Join(dir, "scratch"), registry
		if o.Project == "" {
			o.Project = "test"
		}
		o.Run, o.Grace = t.Name(), 4*time.Second // for a busy machine
		b := docker.New(store, d, o)
		t.Cleanup(func() {
			if err := b.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return b, store
	}
}
