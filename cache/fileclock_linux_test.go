package cache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

// aheadBy sets the clock of this process ahead of the clock that stamps files.
func aheadBy(t *testing.T, d time.Duration) {
	t.Helper()
	callerClock = func() time.Time { return time.Now().Add(d) }
	clocks.known = map[uint64]fileClock{}
	t.Cleanup(func() {
		callerClock = time.Now
		clocks.known = map[uint64]fileClock{}
	})
}

// wholeSeconds mounts a file system that stamps files with whole seconds.
func wholeSeconds(t *testing.T) string {
	t.Helper()
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	if err := ramdir.MountWholeSeconds(dir, image, 4<<20); err != nil {
		t.Skipf("mounting takes root, a loop device and mke2fs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// However far the caller's clock is ahead, an edit right after a file was read is seen: in the index, in a snapshot,
// and in copies of blobs.
func TestCallersClockAhead(t *testing.T) {
	coarse := wholeSeconds(t)
	for name, ahead := range map[string]time.Duration{"right": 0, "3 seconds ahead": 3 * time.Second, "an hour ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			aheadBy(t, ahead)
			path := filepath.Join(coarse, "f")
			ix, err := OpenFileIndex(filepath.Join(coarse, "index"), proof.Place{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				first, second := []byte{'a', byte(i)}, []byte{'b', byte(i)}
				if err := os.WriteFile(path, first, 0o644); err != nil {
					t.Fatal(err)
				}
				before := callerClock()
				info := lstat(t, path)
				got, err := ix.Digest(path, info)
				if err != nil || got != SumBytes(first) {
					t.Fatalf("%v, %v", got, err)
				}
				_, err = TakeSnapshot([]Sighting{Probe{Path: path}.Sight()})
				if unsettled := (*UnsettledError)(nil); !errors.As(err, &unsettled) {
					t.Errorf("the state of a new file is recorded: %v", err)
				}
				hashed, err := TakeSnapshot([]Sighting{SightFile(path, info, before, got)})
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, second, 0o644); err != nil {
					t.Fatal(err)
				}
				if hashed.Changed() == "" {
					t.Errorf("snapshot: the edit is not seen, from %v to %v", info.ModTime(), lstat(t, path).ModTime())
				}
				if got, err := ix.Digest(path, lstat(t, path)); err != nil || got != SumBytes(second) {
					t.Errorf("index: the edit is not seen: %v", err)
				}
			}
		})
	}
}

// Where a file system has no files without names, our own directories are used, and left as they were.
func TestStampNamed(t *testing.T) {
	dir := t.TempDir()
	before := time.Now().Add(-time.Second).UnixNano()
	stamp, dev, ok := stampNamed(dir)
	same, alike, fine := stampIn(dir, false)
	if !ok || stamp < before || stamp > time.Now().UnixNano() {
		t.Errorf("%d, %v", stamp, ok)
	}
	if fine && (dev != alike || same < stamp) {
		t.Errorf("without a name: %d on %d, want at least %d on %d", same, alike, stamp, dev)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, _, ok := stampIn(filepath.Join(dir, "missing"), true); ok {
		t.Error("a missing directory has a clock")
	}
}
