//go:build unix

package local_test

import (
	"os"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/cache"
)

// BenchmarkSession measures the overhead of a session. Twice the cost of a fork is acceptable.
func BenchmarkSession(b *testing.B) {
	for _, level := range isolation.Levels() {
		b.Run(level, func(b *testing.B) { benchmarkSession(b, level) })
		b.Run(level+" with ports", func(b *testing.B) { benchmarkSession(b, level, 8080) })
	}
}

// isolatorVariable names the program that takes over in isolated processes, such as bin/fevalgraph-worker; by default
// it is the test's own.
const isolatorVariable = "FEVALGRAPH_BENCH_ISOLATOR"

func benchmarkSession(b *testing.B, level string, ports ...int) {
	lb := local.New(cache.NewMemory(), local.Options{Lifecycle: local.Lifecycle{Scratch: b.TempDir()}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolation: level, Isolator: func() string { return os.Getenv(isolatorVariable) }}})
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
