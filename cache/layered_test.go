package cache_test

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/cachetest"
)

func TestLayered(t *testing.T) {
	cachetest.TestStore(t, func(t *testing.T) cache.Store { return layered(t, t.TempDir()) })
}

func layered(t *testing.T, lower string) *cache.Layered {
	t.Helper()
	up, err := cache.OpenDisk(t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	low, err := cache.OpenDisk(lower, cache.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return &cache.Layered{Upper: up, Lower: []cache.Lower{low}}
}

func TestLayeredReadsBothAndWritesOne(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	lower, err := cache.OpenDisk(dir, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	old, err := cache.PutBytes(ctx, lower, []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	l := layered(t, dir)
	if b, err := cache.ReadBlob(ctx, l, old, -1); err != nil || string(b) != "old" {
		t.Fatalf("reading the lower disk: %q, %v", b, err)
	}
	fresh, err := cache.PutBytes(ctx, l, []byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	record := &cache.Record{Class: cache.ClassDone, Outputs: []cache.Output{{Name: "a", Digest: old}, {Name: "b", Digest: fresh}}}
	if err := l.PutRecord(ctx, cache.Key{1}, record); err != nil {
		t.Fatal(err)
	}
	if ok, _ := lower.Has(ctx, fresh); ok {
		t.Error("the lower disk was written to")
	}
	if r, _ := lower.Record(ctx, cache.Key{1}); r != nil {
		t.Error("the lower disk got a record")
	}
	if r, err := l.Record(ctx, cache.Key{1}); err != nil || r == nil {
		t.Errorf("the record is %v, %v", r, err)
	}
}
