package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRoom(t *testing.T) {
	const block = 4096
	for _, test := range []struct {
		name string
		fs   unix.Statfs_t
		ok   bool
	}{
		{"room", unix.Statfs_t{Bsize: block, Blocks: 1 << 20, Bfree: 1 << 19, Bavail: 1 << 19, Files: 1 << 20, Ffree: 1 << 19}, true},
		{"no inodes are counted", unix.Statfs_t{Bsize: block, Blocks: 1 << 20, Bfree: 1 << 19, Bavail: 1 << 19}, true},
		{"full", unix.Statfs_t{Bsize: block, Blocks: 1 << 20, Files: 1 << 20, Ffree: 1 << 19}, false},
		{"almost full", unix.Statfs_t{Bsize: block, Blocks: 1 << 20, Bfree: 4000, Bavail: 4000, Files: 1 << 20, Ffree: 1 << 19}, false},
		{"small, with room", unix.Statfs_t{Bsize: block, Blocks: 1000, Bfree: 11, Bavail: 11}, true},
		{"small, full", unix.Statfs_t{Bsize: block, Blocks: 1000, Bfree: 9, Bavail: 9}, false},
		{"no inodes", unix.Statfs_t{Bsize: block, Blocks: 1 << 20, Bfree: 1 << 19, Bavail: 1 << 19, Files: 1 << 20, Ffree: 3}, false},
	} {
		if err := roomIn("/scratch", &test.fs); (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// Where a workspace itself took the room, its end says something about its programs.
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
		if err := roomBeside("/scratch", test.fs, func() usage { return test.own }); (err == nil) != test.ok {
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
