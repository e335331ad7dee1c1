package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// shelfVersion is how the file with a shelf's state begins. It changes when what
// is on a shelf, or counts as its state, does.
const shelfVersion = "fevalgraph-shelf 1\n"

// layoutOf sums up what a directory and everything below it looks like, without
// reading any file: names, kinds, modes, sizes, inodes, and the times of
// the last changes, which nobody can set: owners, too, are a change. Equal sums mean equal bytes, on this
// machine and until it starts again.
func layoutOf(dir string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", startOfMachine())
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		s, ok := stateOf(name, fi)
		if !ok {
			return fmt.Errorf("%s: this system does not tell when a file was changed", name)
		}
		_, err = fmt.Fprintf(h, "%q %d %d %d %d %d\n", strings.TrimPrefix(name, dir), fi.Mode(), s.size, s.mtime, s.ctime, s.inode)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// startOfMachine differs from one start of the kernel to the next.
var startOfMachine = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(id)
})

// shelfRecord is what is written down about a shelf.
type shelfRecord struct {
	root   Digest // the tree that is on it
	at     string // where
	layout string // what layoutOf said of it
}

// key names the shelves of a tree at a place.
func (r shelfRecord) key() Key {
	return sha256.Sum256([]byte("shelf\x00" + r.root.String() + "\x00" + r.at))
}

func readShelfRecord(path string) (r shelfRecord, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	text, ok := strings.CutPrefix(string(b), shelfVersion)
	lines := strings.SplitN(text, "\n", 3)
	if !ok || len(lines) < 3 {
		return r, fmt.Errorf("%s is damaged, or another version's", path)
	}
	r.layout, r.at = lines[0], lines[2]
	r.root, err = ParseDigest(lines[1])
	return r, err
}

// write makes path hold r, whole or not at all.
func (r shelfRecord) write(path string) error {
	part := path + ".part"
	if err := os.WriteFile(part, []byte(shelfVersion+r.layout+"\n"+r.root.String()+"\n"+r.at), 0o444); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// awaitTick returns when whatever is changed from now on below dir gets a later
// time than anything that was changed before: file systems stamp files with
// clocks that tick some hundred times a second, or less often.
func awaitTick(ctx context.Context, dir string) error {
	probe := filepath.Join(dir, "tick")
	first, err := stampOf(probe)
	if err != nil {
		return err
	}
	defer os.Remove(probe)
	for {
		now, err := stampOf(probe)
		if err != nil || now != first {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}
}

// stampOf writes to the file at path and returns the time that it got.
func stampOf(path string) (int64, error) {
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		return 0, err
	}
	fi, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	s, _ := stateOf(path, fi)
	return s.ctime, nil
}
