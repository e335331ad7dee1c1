package local_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
)

// What a session costs beside its program: two forks' worth is fine.
func BenchmarkSession(b *testing.B) {
	b.Run("NoPorts", func(b *testing.B) { benchmarkSession(b) })
	b.Run("Ports", func(b *testing.B) { benchmarkSession(b, 8080) })
}

func benchmarkSession(b *testing.B, ports ...int) {
	lb := local.New(cache.NewMemory(), local.Options{Scratch: b.TempDir(), Path: backendtest.Path})
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

// What a session costs with a tree that others have, too: where copying it
// begins to cost more than mounting it is where workspace.DefaultShareFrom is.
func BenchmarkShared(b *testing.B) {
	for _, mib := range []int{1, 2, 4, 8} {
		for _, how := range []struct {
			name string
			from int64
		}{{"copied", -1}, {"mounted", 1}} {
			b.Run(fmt.Sprintf("%dMiB/%s", mib, how.name), func(b *testing.B) {
				store, err := cache.OpenDisk(b.TempDir(), cache.Options{})
				if err != nil {
					b.Fatal(err)
				}
				tree := putLargeTree(b, store, mib<<20)
				lb := local.New(store, local.Options{Scratch: b.TempDir(), Path: backendtest.Path, ShareFrom: how.from})
				for b.Loop() {
					s, err := lb.Open(b.Context(), backend.Spec{Inputs: []backend.Input{{Tree: tree, Shared: true}}})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := s.Exec(b.Context(), backend.Command{Argv: []string{"true"}}); err != nil {
						b.Fatal(err)
					}
					if err := s.Close(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// putLargeTree stores a directory of one file of size bytes.
func putLargeTree(t testing.TB, store cache.Store, size int) cache.Digest {
	t.Helper()
	content, err := cache.PutBytes(t.Context(), store, bytes.Repeat([]byte{'x'}, size))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := cache.BuildTree([]cache.Entry{{Path: "d/large", Digest: content}})
	if err == nil {
		err = tree.Store(t.Context(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree.Root
}
