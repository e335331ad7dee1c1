package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// shelvesDir is below a store's directory; see Shelf.
const shelvesDir = "shelves"

// The parts of a shelf's directory.
const (
	shelfTree  = "tree"  // what is on it
	shelfState = "state" // what all of that looked like; written last
	shelfUse   = "use"   // locked by whoever uses it; its time is that of the last use
)

// shelfPause is how long to wait before asking again whether another has made a
// shelf.
const shelfPause = 10 * time.Millisecond

// A Shelver has shelves. Disk and Layered do.
type Shelver interface {
	// Shelf returns the tree as a directory that many may read at once, and
	// which is made by whoever asks first. The tree lies at the slash-separated
	// path at below it. A blob that is needed and not there is a *MissingError
	// or *CorruptError, and a store that cannot be written to is ErrReadOnly.
	Shelf(ctx context.Context, root Digest, at string) (*Shelf, error)
	// ShelvesDir is the absolute path of the directory that has all shelves.
	ShelvesDir() string
}

var (
	_ Shelver = (*Disk)(nil)
	_ Shelver = (*Layered)(nil)
)

// Shelf is a tree of the store laid out as files, once for all who only read
// them: mode 0644 or 0755, as PlaceTree makes them. Nobody changes it. Its bytes
// were verified when they were copied; what everything in it looked like then is
// kept, and one that looks different in any way is not used again: it is made
// anew. A loss of power may take what was not written yet, so it serves until the
// machine starts again.
//
// A shelf stays where it is while it is open, and for a while after; see GC.
type Shelf struct {
	dir  string
	made shelfRecord
	use  *os.File
}

// Tree returns the absolute path of the directory that the tree is below.
func (s *Shelf) Tree() string { return filepath.Join(s.dir, shelfTree) }

// Unchanged reports whether everything looks as it did when it was verified.
func (s *Shelf) Unchanged() error {
	now, err := layoutOf(s.Tree())
	if err != nil {
		return fmt.Errorf("looking at shelf %s: %w", s.dir, err)
	}
	if now != s.made.layout {
		return fmt.Errorf("shelf %s was changed by somebody", s.dir)
	}
	return nil
}

// Close lets go of the shelf.
func (s *Shelf) Close() error { return s.use.Close() }

// ShelvesDir implements Shelver.
func (d *Disk) ShelvesDir() string { return d.path(shelvesDir) }

// Shelf implements Shelver.
func (d *Disk) Shelf(ctx context.Context, root Digest, at string) (*Shelf, error) {
	return d.shelf(ctx, d, root, at)
}

// ShelvesDir implements Shelver.
func (l *Layered) ShelvesDir() string { return l.Upper.ShelvesDir() }

// Shelf implements Shelver.
func (l *Layered) Shelf(ctx context.Context, root Digest, at string) (*Shelf, error) {
	return l.Upper.shelf(ctx, l, root, at)
}

// shelf returns a shelf of d with blobs of s.
func (d *Disk) shelf(ctx context.Context, s Store, root Digest, at string) (*Shelf, error) {
	if !fs.ValidPath(at) {
		return nil, fmt.Errorf("shelving tree %s at %q: %w", root, at, fs.ErrInvalid)
	}
	made, err := d.findOrMakeShelf(ctx, shelfRecord{root: root, at: path.Clean(at)}, func(dir string) error {
		place := filepath.Join(dir, filepath.FromSlash(at))
		if err := PlaceTree(ctx, s, root, place); err != nil {
			return err
		}
		for ; place != dir; place = filepath.Dir(place) { // whatever the umask took
			if err := os.Chmod(place, 0o755); err != nil {
				return err
			}
		}
		return os.Chmod(dir, 0o755)
	})
	if err != nil {
		return nil, fmt.Errorf("shelving tree %s: %w", root, err)
	}
	return made, nil
}

func (d *Disk) findOrMakeShelf(ctx context.Context, want shelfRecord, fill func(dir string) error) (*Shelf, error) {
	id := want.key()
	for {
		if found, err := d.findShelf(id); found != nil || err != nil {
			return found, err
		}
		release, ok, err := d.Lock(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok {
			defer release()
			break
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(shelfPause):
		}
	}
	// Another may have made it before the lock was ours.
	if found, err := d.findShelf(id); found != nil || err != nil {
		return found, err
	}
	if err := d.idleShelves(id, func(dir string, _ *os.File) error { return discardShelf(dir) }); err != nil {
		return nil, err
	}
	return d.makeShelf(ctx, want, fill)
}

// findShelf returns the first shelf called id that is as it was made; nil when
// there is none.
func (d *Disk) findShelf(id Key) (*Shelf, error) {
	dir := d.path(shelvesDir, id.String())
	entries, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		s, err := openShelf(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // it is unfinished, damaged, or being removed
		}
		if s.Unchanged() == nil {
			d.noteUse(s.use)
			return s, nil
		}
		s.Close()
	}
	return nil, nil
}

// openShelf takes part in the use of a shelf, whatever state it is in.
func openShelf(dir string) (*Shelf, error) {
	use, err := os.OpenFile(filepath.Join(dir, shelfUse), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(use.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return nil, errors.Join(os.NewSyscallError("flock", err), use.Close())
	}
	made, err := readShelfRecord(filepath.Join(dir, shelfState))
	if err == nil && unnamed(use) { // gc was faster
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, errors.Join(err, use.Close())
	}
	return &Shelf{dir: dir, made: made, use: use}, nil
}

func (d *Disk) noteUse(use *os.File) {
	if fi, err := use.Stat(); err == nil && !d.readOnly {
		d.touch(use.Name(), fi)
	}
}

// makeShelf makes one more shelf. The caller holds the lock of its key, so that
// nobody takes it for a leftover.
func (d *Disk) makeShelf(ctx context.Context, want shelfRecord, fill func(dir string) error) (*Shelf, error) {
	top := d.path(shelvesDir, want.key().String())
	if err := os.MkdirAll(top, 0o777); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(top, "")
	if err != nil {
		return nil, err
	}
	s, err := fillShelf(ctx, dir, want, fill)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func fillShelf(ctx context.Context, dir string, made shelfRecord, fill func(dir string) error) (*Shelf, error) {
	if err := os.WriteFile(filepath.Join(dir, shelfUse), nil, 0o600); err != nil {
		return nil, err
	}
	tree := filepath.Join(dir, shelfTree)
	err := os.Mkdir(tree, 0o755)
	if err == nil {
		err = fill(tree)
	}
	if err == nil {
		made.layout, err = layoutOf(tree)
	}
	if err == nil {
		err = awaitTick(ctx, dir)
	}
	if err == nil {
		err = made.write(filepath.Join(dir, shelfState))
	}
	if err != nil {
		return nil, err
	}
	return openShelf(dir)
}

// idleShelves calls fn with each directory of the shelves called id that nobody
// uses, and with the file whose time is that of its last use; nil for one that
// was never finished. While fn runs nobody comes to use it. The caller holds the
// lock of id.
func (d *Disk) idleShelves(id Key, fn func(dir string, use *os.File) error) error {
	top := d.path(shelvesDir, id.String())
	entries, err := readDir(top)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(top, e.Name())
		use, err := os.OpenFile(filepath.Join(dir, shelfUse), os.O_RDWR, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = fn(dir, nil)
		case err == nil && unix.Flock(int(use.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil:
			err = errors.Join(fn(dir, use), use.Close())
		case err == nil:
			err = use.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// discardShelf removes a shelf that nobody uses. Without what it looked like it is
// nothing, should the rest be interrupted.
func discardShelf(dir string) error {
	if err := os.Remove(filepath.Join(dir, shelfState)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(dir)
}
