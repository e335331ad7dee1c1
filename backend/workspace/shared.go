package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// mountSuffix makes the name of a workspace's directory into that of the one in
// which its overlay keeps what it needs.
const mountSuffix = ".mount"

// shared is what of a workspace others have, too.
type shared struct {
	sharing *Sharing       // nil: everything is copied
	shelves []*cache.Shelf // that are mounted, or will be
	mount   *overlay       // nil while there are no shelves, or not all of them yet
}

// Share makes the workspace have large shared trees in common with others, or
// nothing if s is nil. It is for one into which nothing was placed yet, and whose
// files belong to the caller.
func (w *Workspace) Share(s *Sharing) { w.shared.sharing = s }

// Enter returns a function that makes a thread, which must be one of its own, see
// the workspace as its commands are to; nil when every thread does.
func (w *Workspace) Enter() func() error {
	if w.shared.mount == nil {
		return nil
	}
	return w.shared.mount.enter
}

// SharedUnchanged returns an error when somebody changed a shared tree behind the
// back of those who have it. What a command then said is worth nothing.
func (w *Workspace) SharedUnchanged() error {
	for _, shelf := range w.shared.shelves {
		if err := shelf.Unchanged(); err != nil {
			return fmt.Errorf("files that sessions share: %w", err)
		}
	}
	return nil
}

// placeShared places the inputs at the beginning of the list that others have,
// too, without copying them, and returns how many it did; none when they are to
// be copied.
func (w *Workspace) placeShared(ctx context.Context, inputs []backend.Input) (placed int, err error) {
	if w.shared.sharing == nil || w.shared.mount != nil {
		return 0, nil
	}
	n := 0
	for n < len(inputs) && inputs[n].Shared && !inputs[n].Tree.IsZero() && (n == 0 || !inputs[n].Replace) {
		n++
	}
	way, err := w.shared.sharing.wayOf(ctx, inputs[:n])
	var put putter = w.putUnder
	switch {
	case err != nil || way == Copied:
		return 0, err
	case way == Cloned:
		put = w.clone
	}
	for _, in := range inputs[:n] {
		put, err := w.placeShelf(ctx, in, put)
		if err != nil {
			return placed, fmt.Errorf("placing input %q: %w", in.Path, err)
		}
		if !put {
			break
		}
		placed++
	}
	return placed, w.mountShelves()
}

// putter makes a workspace have what is on the shelf of an input at target; false is
// a tree that is to be copied. From then on it is who closes the shelf.
type putter func(ctx context.Context, in backend.Input, shelf *cache.Shelf, target string) (bool, error)

// placeShelf puts the shelf of an input into the workspace; false is a tree that is
// to be copied.
func (w *Workspace) placeShelf(ctx context.Context, in backend.Input, put putter) (bool, error) {
	at, err := Relative(in.Path)
	if err != nil {
		return false, err
	}
	target := path.Join(workDir, at)
	shelf, err := w.shared.sharing.shelf(ctx, in.Tree, target)
	if shelf == nil || err != nil {
		return false, err
	}
	return put(ctx, in, shelf, target)
}

// putUnder is a putter of shelves that are to be mounted.
func (w *Workspace) putUnder(ctx context.Context, in backend.Input, shelf *cache.Shelf, target string) (bool, error) {
	w.shared.shelves = append(w.shared.shelves, shelf)
	if in.Replace {
		if err := w.root.RemoveAll(target); err != nil {
			return false, err
		}
	}
	return true, w.makeRoom(ctx, in.Tree, target)
}

// clone is a putter of clones of a tree's files.
func (w *Workspace) clone(ctx context.Context, in backend.Input, shelf *cache.Shelf, target string) (placed bool, err error) {
	defer func() { err = errors.Join(err, shelf.Close()) }()
	if err := makeParents(w.root, target); err != nil {
		return false, err
	}
	if in.Replace {
		if err := w.root.RemoveAll(target); err != nil {
			return false, err
		}
	}
	err = cache.PlaceShelf(ctx, w.store, shelf, w.root, target)
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	return err == nil, err
}

// mountShelves puts the shelves that have gathered under the workspace, the last
// one first.
func (w *Workspace) mountShelves() error {
	if len(w.shared.shelves) == 0 || w.shared.mount != nil {
		return nil
	}
	var lower []string
	for _, shelf := range slices.Backward(w.shared.shelves) {
		lower = append(lower, shelf.Tree())
	}
	hidden := w.shared.sharing.store.(cache.Shelver).ShelvesDir()
	mount, root, err := mountOverlay(w.base, w.base+mountSuffix, lower, hidden)
	if err != nil {
		return fmt.Errorf("mounting shared trees: %w", err)
	}
	plain := w.root
	w.root, w.shared.mount = root, mount
	return plain.Close()
}

func (s *shared) close() error {
	var failed error
	if s.mount != nil {
		failed = s.mount.close()
	}
	for _, shelf := range s.shelves {
		failed = errors.Join(failed, shelf.Close())
	}
	*s = shared{}
	return failed
}

// makeRoom removes from the workspace what would cover something of the tree, so
// that the tree wins, as it would if it were copied. That brings nothing of an
// earlier shelf to light: what covered that is gone already.
func (w *Workspace) makeRoom(ctx context.Context, tree cache.Digest, target string) error {
	at := ""
	for element := range strings.SplitSeq(target, "/") {
		at = path.Join(at, element)
		if free, err := w.clear(at, true); free || err != nil {
			return err
		}
	}
	return cache.WalkTree(ctx, w.store, tree, func(e cache.Entry) error {
		free, err := w.clear(path.Join(target, e.Path), e.Dir)
		if free && e.Dir && err == nil {
			return fs.SkipDir
		}
		return err
	})
}

// clear makes the name free for a directory, or for something else, and reports
// whether it is. A directory stays where one is to be.
func (w *Workspace) clear(name string, dir bool) (free bool, err error) {
	info, err := w.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case info.IsDir() && dir:
		return false, w.root.Chmod(name, 0o755)
	}
	return true, w.root.RemoveAll(name)
}
