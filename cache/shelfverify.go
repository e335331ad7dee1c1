package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// shelves reads all shelves. One that was never finished is nothing.
func (v *verifier) shelves(ctx context.Context) error {
	keys, err := readDir(v.disk.ShelvesDir())
	for _, key := range keys {
		if err == nil && key.IsDir() {
			err = v.shelvesOf(ctx, path.Join(shelvesDir, key.Name()))
		}
	}
	return err
}

// shelvesOf reads the shelves of a key.
func (v *verifier) shelvesOf(ctx context.Context, top string) error {
	entries, err := readDir(v.disk.path(top))
	for _, e := range entries {
		if err == nil {
			err = v.shelf(ctx, path.Join(top, e.Name()))
		}
	}
	return err
}

func (v *verifier) shelf(ctx context.Context, name string) error {
	s, err := openShelf(v.disk.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(s.verify(ctx, v.disk.files), s.Close())
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err == nil {
		return nil
	}
	v.report.Corrupt = append(v.report.Corrupt, name)
	if !v.repair {
		return nil
	}
	err = os.Remove(v.disk.path(name, shelfState)) // who uses it has noticed, or will; gc removes the rest
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// verify reads everything on the shelf.
func (s *Shelf) verify(ctx context.Context, system files.System) error {
	var entries []Entry
	top := s.Tree()
	err := filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == top {
			return err
		}
		entry, err := entryOf(ctx, system, name, e)
		entry.Path = filepath.ToSlash(strings.TrimPrefix(name, top+string(filepath.Separator)))
		entries = append(entries, entry)
		return err
	})
	if err != nil {
		return err
	}
	tree, err := BuildTree(entries)
	if err != nil {
		return err
	}
	for at, below := tree.Root, s.made.at; ; {
		if below == "." {
			if at != s.made.root {
				return fmt.Errorf("shelf %s has tree %s in place of %s", s.dir, at, s.made.root)
			}
			return nil
		}
		first, rest, deeper := strings.Cut(below, "/")
		d, err := decodeDirectory(tree.Blobs[at])
		if err != nil {
			return err
		}
		if len(d.files) > 0 || len(d.links) > 0 || len(d.dirs) != 1 || d.dirs[0].name != first {
			return fmt.Errorf("shelf %s has more or less than a tree at %q", s.dir, s.made.at)
		}
		if !deeper {
			rest = "."
		}
		at, below = d.dirs[0].digest, rest
	}
}

// entryOf reads one thing of a directory.
func entryOf(ctx context.Context, system files.System, name string, e fs.DirEntry) (entry Entry, err error) {
	fi, err := e.Info()
	if err != nil {
		return entry, err
	}
	switch mode := fi.Mode(); {
	case mode.IsDir():
		entry.Dir = true
	case mode&fs.ModeSymlink != 0:
		entry.Link, err = os.Readlink(name)
	case mode.IsRegular():
		f, err := files.Open(system, name)
		if err != nil {
			return entry, err
		}
		defer f.Close()
		entry.Digest, err = sum(ctx, nil, f)
		entry.Executable = mode&0o111 != 0
		return entry, err
	default:
		err = fmt.Errorf("%s is none of what trees have", name)
	}
	return entry, err
}
