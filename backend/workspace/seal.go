package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
)

// sealedDir contains sealed files and directories, by number.
const sealedDir = "sealed"

// Seal moves the files and directories at names, relative to Work, to the absolute paths that
// it returns, and leaves empty files or directories as mount points. For anything else, such as
// a symlink, it creates an empty directory. Place and Collect work as if nothing had been
// moved. Seal can be called again with the same names, and then restores mount points that
// commands changed.
func (w *Workspace) Seal(names ...string) (sources []string, err error) {
	if w.root == nil {
		return nil, fmt.Errorf("sealing: workspace: %w", fs.ErrClosed)
	}
	if len(w.sealed) == 0 && len(names) > 0 {
		if err := w.root.Mkdir(sealedDir, 0o755); err != nil {
			return nil, fmt.Errorf("sealing: %w", err)
		}
	}
	w.sealed = names
	for i := range names {
		sources = append(sources, filepath.Join(w.base, sealedDir, strconv.Itoa(i)))
	}
	// Commands might have removed its permissions.
	return sources, errors.Join(allow(w.root, w.work, 0o700), w.seal())
}

// Unseal moves everything back permanently.
func (w *Workspace) Unseal() error {
	err := w.unseal()
	w.sealed = nil
	return err
}

func (w *Workspace) unseal() error {
	if len(w.sealed) > 0 {
		if err := allow(w.root, w.work, 0o700); err != nil {
			return err
		}
	}
	for i, name := range w.sealed {
		inside, outside := w.inputPath(name), path.Join(sealedDir, strconv.Itoa(i))
		if _, err := w.root.Lstat(outside); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := makeParents(w.root, inside)
		if err == nil {
			err = w.root.RemoveAll(inside)
		}
		if err == nil {
			err = w.root.Rename(outside, inside)
		}
		if err != nil {
			return fmt.Errorf("unsealing %q: %w", name, err)
		}
	}
	return nil
}

// whileUnsealed calls do while nothing in the workspace is sealed.
func (w *Workspace) whileUnsealed(do func() error) error {
	if err := w.unseal(); err != nil {
		return err
	}
	return errors.Join(do(), w.seal())
}

func (w *Workspace) seal() error {
	for i, name := range w.sealed {
		if err := w.sealOne(w.inputPath(name), path.Join(sealedDir, strconv.Itoa(i))); err != nil {
			return fmt.Errorf("sealing %q: %w", name, err)
		}
	}
	return nil
}

// sealOne moves a file or directory out of the workspace. Symlinks are not moved, since mounts
// would follow them.
func (w *Workspace) sealOne(inside, outside string) error {
	if err := makeParents(w.root, inside); err != nil {
		return err
	}
	there, err := w.root.Lstat(inside)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sealed, err := w.root.Lstat(outside)
	if errors.Is(err, fs.ErrNotExist) {
		if err = w.moveOut(there, inside, outside); err == nil {
			there = nil
			sealed, err = w.root.Lstat(outside)
		}
	}
	if err != nil || there != nil && there.Mode().Type() == sealed.Mode().Type() {
		return err
	}
	if err := w.root.RemoveAll(inside); err != nil {
		return err
	}
	if sealed.IsDir() {
		err = w.root.Mkdir(inside, 0o755)
	} else {
		err = writeFile(w.root, inside, nil)
	}
	if err != nil || w.owner == nil {
		return err
	}
	return w.giveAway(inside)
}

// moveOut moves inside to outside, if it can be sealed.
func (w *Workspace) moveOut(there fs.FileInfo, inside, outside string) error {
	if there == nil || !there.IsDir() && !there.Mode().IsRegular() {
		return w.root.Mkdir(outside, 0o755)
	}
	if there.IsDir() { // otherwise it could not be moved
		if err := allow(w.root, inside, 0o700); err != nil {
			return err
		}
	}
	return w.root.Rename(inside, outside)
}

// Above returns the directories above names, without names themselves, parents first. If they
// are mounted at their own paths, they cannot be replaced.
func Above(names []string) []string {
	var dirs []string
	for _, name := range names {
		for at, r := range name {
			if r != '/' || slices.Contains(dirs, name[:at]) {
				continue
			}
			if slices.Contains(names, name[:at]) {
				break
			}
			dirs = append(dirs, name[:at])
		}
	}
	return dirs
}
