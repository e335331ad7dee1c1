package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

// Where a workspace itself took the room, its programs caused the end.
func TestRoomTakenByWorkspace(t *testing.T) {
	const block = 4096
	full := unix.Statfs_t{Bsize: block, Blocks: 1 << 20, Files: 1 << 20, Ffree: 1 << 19}
	files := unix.Statfs_t{Bsize: block, Blocks: 1 << 20, Bfree: 1 << 19, Bavail: 1 << 19, Files: 1 << 20}
	for _, test := range []struct {
		name string
		fs   unix.Statfs_t
		own  usage
		ok   bool
	}{
		{"all bytes", full, usage{bytes: 1 << 30, inodes: 2}, true},
		{"few bytes", full, usage{bytes: 1 << 20, inodes: 1000}, false},
		{"all inodes", files, usage{bytes: 1, inodes: 1000}, true},
		{"few inodes", files, usage{bytes: 1 << 30, inodes: 3}, false},
	} {
		if err := roomBeside("/scratch", test.fs, test.own); (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "junk"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if got := usedBelow(root, "."); got.inodes != 2 || got.bytes < 1<<20 {
		t.Errorf("%+v", got)
	}
}

// A file system that was full for a moment is reported, though it has room again, unless the workspace
// is alone and filled it.
func TestWatch(t *testing.T) {
	dir, _ := ramdir.Small(t)
	w, err := Make(filepath.Join(dir, "base"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	own, other := filepath.Join(w.Work(), "own"), filepath.Join(dir, "other")
	for _, c := range []struct {
		full   string
		alone  bool
		spoils bool
	}{{own, true, false}, {own, false, true}, {other, true, true}, {other, false, true}} {
		full := c.full
		w.Isolated = c.alone
		looks := make(chan error)
		stop := exhaustion.Watch(func() error {
			err := w.room()
			looks <- err
			return err
		})
		if err := <-looks; err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(full, 0o755); err != nil {
			t.Fatal(err)
		}
		ramdir.Fill(t, full)
		seen := <-looks
		if seen == nil { // it can have begun before
			seen = <-looks
		}
		if err := os.RemoveAll(full); err != nil {
			t.Fatal(err)
		}
		go func() {
			for range looks {
			}
		}()
		err := stop()
		close(looks)
		if err != seen || (err != nil) != c.spoils || err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%+v: %v, seen %v", c, err, seen)
		}
	}
}
