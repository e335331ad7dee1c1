package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// openRegular opens the regular file at the slash-separated name below the
// work directory. It returns an error for a symlink anywhere in the path.
// Files and directories that a program made unreadable are made readable
// first.
func (w *Workspace) openRegular(name string) (*os.File, error) {
	root, inside := w.root, w.inputPath(name)
	if !fs.ValidPath(name) || name == "." {
		return nil, fmt.Errorf("%w: not a path inside the workspace", fs.ErrInvalid)
	}
	at := ""
	for element := range strings.SplitSeq(path.Dir(inside), "/") {
		at = path.Join(at, element)
		info, err := root.Lstat(at)
		switch {
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fmt.Errorf("%w: its path contains a symlink", backend.ErrNotRegular)
		case !info.IsDir():
			return nil, fs.ErrNotExist
		}
		if err := allow(root, at, 0o700); err != nil {
			return nil, err
		}
	}
	at = inside
	before, err := root.Lstat(at)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is a %s", backend.ErrNotRegular, cache.TypeName(before.Mode()))
	}
	if err := allow(root, at, 0o400); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(at, openFlags, 0)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%w: it changed while it was opened", backend.ErrNotRegular)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// allow adds permission bits to name, a directory or regular file that was
// examined before.
func allow(root *os.Root, name string, bits fs.FileMode) error {
	info, err := root.Lstat(name)
	if err != nil || info.Mode().Perm()&bits == bits {
		return err
	}
	return root.Chmod(name, info.Mode().Perm()|bits)
}
