package workerhost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// A starting worker removes old unused blobs from its store.
func TestStoreIsCollected(t *testing.T) {
	dir := t.TempDir()
	store, err := cache.OpenDisk(filepath.Join(dir, "store"), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	old, err := cache.PutBytes(t.Context(), store, []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	recent, err := cache.PutBytes(t.Context(), store, []byte("recent"))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	blob := func(d cache.Digest) string { return filepath.Join(dir, "store", "cas", d.Hex()[:2], d.Hex()) }
	past := time.Now().Add(-2 * unusedAge)
	if err := os.Chtimes(blob(old), past, past); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Dir: dir, LookupEnv: os.LookupEnv}, func(Address) {})
	}()
	if !await.For(func() bool { _, err := os.Stat(blob(old)); return errors.Is(err, os.ErrNotExist) }) {
		t.Error("a blob that no run used stays")
	}
	if _, err := os.Stat(blob(recent)); err != nil {
		t.Error(err)
	}
	end()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
