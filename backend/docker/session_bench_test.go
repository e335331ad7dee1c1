package docker_test

import (
	"os"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// BenchmarkSession measures a session with one trivial command.
func BenchmarkSession(b *testing.B) {
	if os.Getenv("FEVALGRAPH_TEST_DOCKER") == "" {
		b.Skip("needs a Docker daemon; make test has one")
	}
	d, err := docker.Connect(docker.Endpoint{Host: os.Getenv("DOCKER_HOST")})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	made := docker.New(cache.NewMemory(), d, docker.Options{Program: program, Origin: docker.Origin{Image: baseImage}, Lifecycle: docker.Lifecycle{Scratch: b.TempDir(), Project: "test", Run: b.Name()}})
	if _, err := made.Identity(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := made.Open(b.Context(), backend.Spec{Inputs: []backend.Input{{Path: "f", Content: []byte("x")}}})
		if err != nil {
			b.Fatal(err)
		}
		if exit, err := s.Exec(b.Context(), sh("cat f")); err != nil || exit.Code != 0 {
			b.Errorf("%+v, %v", exit, err)
		}
		if err := s.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
