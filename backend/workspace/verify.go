package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// Verify implements backend.Session.Verify for the directory: it is still the created one, complete,
// and its file system has room.
func (w *Workspace) Verify() error {
	if w.root == nil {
		return errors.New("the workspace is closed")
	}
	made, err := w.root.Stat(".")
	if err != nil {
		return fmt.Errorf("inspecting the workspace: %w", err)
	}
	if now, err := os.Lstat(w.base); err != nil || !os.SameFile(made, now) {
		return fmt.Errorf("the workspace %s was removed or replaced while a command ran", w.base)
	}
	for _, dir := range []string{w.work, w.home, w.temp} {
		if info, err := w.root.Lstat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("the directory %s of the workspace %s was removed while a command ran", dir, w.base)
		}
	}
	return cmp.Or(w.foundFull, w.room())
}

// Watch makes Verify also report that the file system was full for a moment, until the caller calls stop.
func (w *Workspace) Watch() (stop func()) {
	end := exhaustion.Watch(w.room)
	return func() { w.foundFull = cmp.Or(w.foundFull, end()) }
}

// room returns an error if the file system is full. If the workspace is Isolated, its own files do not count.
func (w *Workspace) room() error {
	if !w.Isolated {
		return exhaustion.Room(w.Work())
	}
	return room(w.Work(), func() (all usage) {
		parts := []string{"."}
		if w.base == "/" {
			parts = []string{w.work, w.home, w.temp}
		}
		for _, dir := range parts {
			u := usedBelow(w.root, dir)
			all.bytes, all.inodes = all.bytes+u.bytes, all.inodes+u.inodes
		}
		return all
	})
}

// usage is the part of a file system that a workspace takes.
type usage struct{ bytes, inodes uint64 }

// usedBelow sums up the space that readable files of the workspace take.
func usedBelow(root *os.Root, dir string) (u usage) {
	_ = fs.WalkDir(root.FS(), dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || u.inodes == mostCounted {
			return fs.SkipDir
		}
		if info, err := entry.Info(); err == nil {
			u.inodes++
			u.bytes += occupied(info)
		}
		return nil
	})
	return u
}

// mostCounted limits the number of examined files.
const mostCounted = 10_000_000
