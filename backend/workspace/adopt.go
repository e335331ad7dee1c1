package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Layout describes a workspace whose parts are at absolute paths, as in a container. The caller must be
// able to change owners of files, and to write to files of the Owner.
type Layout struct {
	Work, Home, Temp string
	// Owner is the user of commands.
	Owner Owner
	// Places are parts of the inputs at other paths, where they replace existing files.
	Places []backend.Place
	// ReadOnly are inputs, relative to Work, that the Owner cannot change: they belong to the caller,
	// and so do the directories above them, from which the Owner can remove only own files.
	ReadOnly []string
}

// place is a backend.Place with its path relative to the root directory.
type place struct{ path, target string }

// Adopt returns the workspace of a layout, and creates missing parts.
func Adopt(l Layout, store cache.Store) (w *Workspace, err error) {
	root, err := os.OpenRoot("/")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			root.Close()
		}
	}()
	w = &Workspace{base: "/", root: root, store: store, owner: &l.Owner, readOnly: l.ReadOnly}
	isNew, shown := false, &l.Owner
	if len(l.Places) > 0 {
		shown = nil // commands see the places alone
	}
	if w.work, isNew, err = w.adopt(l.Work, shown); err != nil {
		return nil, err
	}
	if w.home, _, err = w.adopt(l.Home, &l.Owner); err != nil {
		return nil, err
	}
	if w.temp, _, err = w.adopt(l.Temp, &l.Owner); err != nil {
		return nil, err
	}
	for _, p := range l.Places {
		at, err := inRoot(p.At)
		if err == nil && isNew {
			err = w.root.RemoveAll(at)
		}
		if err != nil {
			return nil, err
		}
		w.places = append(w.places, place{p.Path, at})
	}
	return w, w.protect()
}

// inRoot returns a path relative to the root directory without symlinks, and creates the directories above
// it.
func inRoot(name string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(name))
	return strings.TrimPrefix(filepath.Join(parent, filepath.Base(name)), "/"), err
}

// adopt returns the path of a directory relative to the root directory. A directory that it creates
// belongs to owner or, if that is nil, is accessible only to the caller.
func (w *Workspace) adopt(dir string, owner *Owner) (inside string, isNew bool, err error) {
	if inside, err = inRoot(dir); err != nil {
		return "", false, err
	}
	info, err := w.root.Lstat(inside)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		isNew, err = true, w.root.Mkdir(inside, 0o700)
		if err == nil && owner != nil {
			err = errors.Join(w.root.Chmod(inside, 0o755), w.root.Lchown(inside, owner.UID, owner.GID))
		}
	case err == nil && info.IsDir():
		err = allow(w.root, inside, 0o700)
	case err == nil:
		err = fmt.Errorf("%s: %w", dir, backend.ErrNotRegular)
	}
	return inside, isNew, err
}

// inputPath returns the path of the input with a clean name, relative to the root.
func (w *Workspace) inputPath(name string) string {
	for _, p := range w.places {
		if name == p.path {
			return p.target
		}
		if below, ok := strings.CutPrefix(name, p.path+"/"); ok {
			return path.Join(p.target, below)
		}
	}
	return path.Join(w.work, name)
}

// top returns the directory of the inputs, or the place, that contains a path.
func (w *Workspace) top(inside string) string {
	for _, p := range w.places {
		if strings.HasPrefix(inside+"/", p.target+"/") {
			return p.target
		}
	}
	return w.work
}

// placesBelow returns the places for paths below a name, whose files are elsewhere.
func (w *Workspace) placesBelow(name string) (found []place) {
	for _, p := range w.places {
		if name == "." || strings.HasPrefix(p.path, name+"/") {
			found = append(found, p)
		}
	}
	return found
}

// removeContent removes the file or directory at a name.
func (w *Workspace) removeContent(name string) error {
	for _, p := range w.placesBelow(name) {
		if err := w.root.RemoveAll(p.target); err != nil {
			return err
		}
	}
	if name != "." || w.work == workDir {
		return w.root.RemoveAll(w.inputPath(name))
	}
	dir, err := w.root.Open(w.work) // the directory can be a mount
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	for _, e := range entries {
		err = errors.Join(err, w.root.RemoveAll(path.Join(w.work, e.Name())))
	}
	return err
}

// distribute moves files that were placed at a name to the places below it.
func (w *Workspace) distribute(name string) error {
	for _, p := range w.placesBelow(name) {
		from := path.Join(w.work, p.path)
		if _, err := w.root.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := w.merge(from, p.target)
		if err == nil && w.owner != nil {
			err = w.giveAway(p.target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// merge moves from over to, with the semantics of placing an input.
func (w *Workspace) merge(from, to string) error {
	moved, err := w.root.Lstat(from)
	if err != nil {
		return err
	}
	there, err := w.root.Lstat(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || !moved.IsDir() || !there.IsDir() {
		return errors.Join(w.root.RemoveAll(to), w.root.Rename(from, to))
	}
	if err := w.root.Chmod(to, moved.Mode().Perm()); err != nil {
		return err
	}
	dir, err := w.root.Open(from)
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	for _, e := range entries {
		if err == nil {
			err = w.merge(path.Join(from, e.Name()), path.Join(to, e.Name()))
		}
	}
	return errors.Join(err, w.root.Remove(from))
}

// protect changes the owner of read-only paths, and of the directories above them, to the caller. It
// replaces anything but files and directories by an empty directory.
func (w *Workspace) protect() error {
	if len(w.readOnly) == 0 {
		return nil
	}
	self := Owner{os.Geteuid(), os.Getegid()}
	for _, dir := range append([]string{"."}, Above(w.readOnly)...) {
		inside := w.inputPath(dir)
		if err := makeParents(w.root, path.Join(inside, "any")); err != nil {
			return err
		}
		if err := errors.Join(w.root.Lchown(inside, self.UID, self.GID), w.root.Chmod(inside, 0o777|fs.ModeSticky)); err != nil {
			return err
		}
	}
	for _, name := range w.readOnly {
		inside := w.inputPath(name)
		info, err := w.root.Lstat(inside)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			if err := errors.Join(w.root.RemoveAll(inside), w.root.Mkdir(inside, 0o755)); err != nil {
				return err
			}
		}
		if err := w.lock(inside, self); err != nil {
			return err
		}
	}
	return nil
}

// lock gives the file or directory inside to an owner, readable for all and writable only for the owner.
func (w *Workspace) lock(inside string, to Owner) error {
	return fs.WalkDir(w.root.FS(), inside, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := w.root.Lchown(name, to.UID, to.GID); err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm()&0o755 | 0o444
		if entry.IsDir() {
			mode |= 0o111
		}
		return w.root.Chmod(name, mode)
	})
}
