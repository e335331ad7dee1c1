//go:build unix

package local_test

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/cache"
)

// What a session costs beside its program: two forks' worth is fine.
func BenchmarkSession(b *testing.B) {
	for _, level := range isolation.Levels() {
		b.Run(level, func(b *testing.B) { benchmarkSession(b, level) })
		b.Run(level+" with ports", func(b *testing.B) { benchmarkSession(b, level, 8080) })
	}
}

func benchmarkSession(b *testing.B, level string, ports ...int) {
	lb := local.New(cache.NewMemory(), local.Options{Scratch: b.TempDir(), Path: backendtest.Path, Isolation: level})
	for b.Loop() {
		s, err := lb.Open(b.Context(), backend.Spec{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Exec(b.Context(), backend.Command{Argv: []string{"true"}, Ports: ports}); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
