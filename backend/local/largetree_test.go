//go:build unix

package local_test

import (
	"bytes"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
)

// TestLargeTreeIsEachSessionsOwn: a program that changes files of a large tree does not affect the store or later
// sessions, however the files were copied.
func TestLargeTreeIsEachSessionsOwn(t *testing.T) {
	store, err := cache.OpenDisk(t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	tree := putLargeTree(t, store, 2<<20)
	b := local.New(store, local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}})
	for _, damage := range []string{"true", "echo changed > d/large", "printf y | dd of=d/large conv=notrunc", "chmod 0 d/large", "rm d/large", "mv d e; : > e/large"} {
		s, err := b.Open(t.Context(), backend.Spec{Inputs: []backend.Input{{Tree: tree}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{`test "$(tr -d x < d/large | wc -c) $(wc -c < d/large)" = "0 2097152"`, damage} {
			if exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"sh", "-c", command}}); err != nil || exit.Code != 0 {
				t.Errorf("%s: %+v, %v", command, exit, err)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := store.Verify(t.Context(), false, nil); err != nil || len(r.Corrupt) > 0 {
		t.Errorf("the store: %+v, %v", r, err)
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
