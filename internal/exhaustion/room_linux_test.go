package exhaustion

import (
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
		if err := RoomIn("/scratch", &test.fs); (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
