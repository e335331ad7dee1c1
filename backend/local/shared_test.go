package local_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
)

// With every tree mounted, however small, a backend is no other.
func TestConformanceShared(t *testing.T) {
	needSharing(t)
	backendtest.TestBackend(t, func(t *testing.T) (backend.Backend, cache.Store) {
		dir := t.TempDir()
		store, err := cache.OpenDisk(filepath.Join(dir, "store"), cache.Options{})
		if err != nil {
			t.Fatal(err)
		}
		scratch := filepath.Join(dir, "scratch")
		t.Cleanup(func() {
			if left, err := os.ReadDir(scratch); len(left) > 0 {
				t.Errorf("left in scratch: %v, %v", left, err)
			}
		})
		return sharing{local.New(store, local.Options{Scratch: scratch, Path: backendtest.Path, Grace: time.Second, ShareFrom: 1})}, store
	})
}

// sharing is a backend all of whose trees are shared.
type sharing struct{ *local.Backend }

func (b sharing) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	spec.Inputs = allShared(spec.Inputs)
	s, err := b.Backend.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	return sharingSession{s}, nil
}

type sharingSession struct{ backend.Session }

func (s sharingSession) Place(ctx context.Context, inputs ...backend.Input) error {
	return s.Session.Place(ctx, allShared(inputs)...)
}

func allShared(inputs []backend.Input) []backend.Input {
	var all []backend.Input
	for _, in := range inputs {
		in.Shared = true
		all = append(all, in)
	}
	return all
}

// needSharing skips where nothing can be mounted.
func needSharing(t *testing.T) {
	t.Helper()
	store, err := cache.OpenDisk(t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := local.New(store, local.Options{Scratch: t.TempDir()}).Sharing(); err != nil {
		t.Skipf("this machine copies: %v", err)
	}
}
