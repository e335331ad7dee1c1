package cache_test

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/cachetest"
)

func TestMemory(t *testing.T) {
	cachetest.TestStore(t, func(*testing.T) cache.Store { return cache.NewMemory() })
}

func TestDisk(t *testing.T) {
	cachetest.TestStore(t, func(t *testing.T) cache.Store {
		d, err := cache.OpenDisk(t.TempDir(), cache.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}
