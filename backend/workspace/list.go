package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Real returns the absolute path of a file or directory of the workspace, and whether it is
// a directory. It returns an error if the path contains a symlink or leads to anything else.
func (w *Workspace) Real(name string) (at string, dir bool, err error) {
	if w.root == nil {
		return "", false, fmt.Errorf("workspace: %w", fs.ErrClosed)
	}
	if name, err = Relative(name); err != nil {
		return "", false, err
	}
	at = w.inputPath(name)
	inside := ""
	for element := range strings.SplitSeq(at, "/") {
		inside = path.Join(inside, element)
		info, err := w.root.Lstat(inside)
		if err != nil {
			return "", false, err
		}
		if dir = info.IsDir(); !dir && (!info.Mode().IsRegular() || inside != at) {
			return "", false, fmt.Errorf("%s: %w: it is a %s", name, backend.ErrNotRegular, cache.TypeName(info.Mode()))
		}
	}
	return filepath.Join(w.base, filepath.FromSlash(at)), dir, nil
}

// List implements backend.Lister.List.
func (w *Workspace) List(ctx context.Context, dir string, most int) ([]string, error) {
	if w.root == nil {
		return nil, fmt.Errorf("listing %q: workspace: %w", dir, fs.ErrClosed)
	}
	_, isDir, err := w.Real(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !isDir:
		err = errors.New("not a directory")
	}
	if err != nil {
		return nil, fmt.Errorf("listing %q: %w", dir, err)
	}
	var names []string
	top := w.inputPath(dir)
	err = fs.WalkDir(w.root.FS(), top, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission): // a program removed its permissions
			if err := allow(w.root, name, 0o700); err != nil {
				return err
			}
			return fs.SkipDir
		case err != nil:
			return err
		case entry.IsDir():
			return errors.Join(allow(w.root, name, 0o700), context.Cause(ctx))
		case !entry.Type().IsRegular():
			return nil
		case len(names) == most:
			return fmt.Errorf("%w: more than %d", backend.ErrManyFiles, most)
		}
		names = append(names, path.Join(dir, strings.TrimPrefix(name, top+"/")))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %q: %w", dir, err)
	}
	return names, nil
}
