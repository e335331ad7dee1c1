package cache

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// A use in the future counts as recent, since a clock was put back. To a clock that is behind, nothing is old.
func TestGCByAnotherClock(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		used, now time.Duration // from the present
		goes      bool
	}{
		"used in the future": {used: 2 * day, goes: false},
		"far in the future":  {used: 10000 * day, goes: false},
		"clock put back":     {used: -2 * day, now: -3 * day, goes: false},
		"clock ahead":        {used: -3 * time.Hour, now: 2 * day, goes: true},
		"at the limit":       {used: -day + time.Hour, goes: false},
		"a moment longer":    {used: -day - time.Hour, goes: true},
	} {
		d := openDisk(t)
		g := putBytes(t, d, bytes.Repeat([]byte("x"), 1<<20))
		used := time.Now().Add(test.used)
		if err := os.Chtimes(d.blobPath(g), used, used); err != nil {
			t.Fatal(err)
		}
		collect(t, d, GCOptions{MaxBytes: -1, MaxAge: day, Now: time.Now().Add(test.now)})
		if has(t, d, g) == test.goes {
			t.Errorf("%s: it is gone: %v, want %v", name, !test.goes, test.goes)
		}
	}
}
