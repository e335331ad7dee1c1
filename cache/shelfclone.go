package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// cloner gives the bytes of the file at a path of a tree.
type cloner func(ctx context.Context, path string) (fill func(*os.File) error, done func() error, err error)

// PlaceShelf is PlaceTreeIn of the tree on the shelf, with clones of the files
// there: they have their blocks in common until one of them is written to. Where
// the file systems do not offer that it is errors.ErrUnsupported, and some of the
// tree is there.
func PlaceShelf(ctx context.Context, s Store, shelf *Shelf, at *os.Root, name string) error {
	return placeClones(ctx, s, shelf, at, name, cloneFile)
}

func placeClones(ctx context.Context, s Store, shelf *Shelf, at *os.Root, name string, clone func(to, from *os.File) error) error {
	from, err := os.OpenRoot(filepath.Join(shelf.Tree(), filepath.FromSlash(shelf.made.at)))
	if err != nil {
		return fmt.Errorf("cloning shelf %s: %w", shelf.dir, err)
	}
	defer from.Close()
	p := &placer{ctx: ctx, store: s, clone: func(ctx context.Context, path string) (func(*os.File) error, func() error, error) {
		f, err := from.Open(path)
		if err != nil {
			return nil, nil, err
		}
		return func(to *os.File) error { return errors.Join(context.Cause(ctx), clone(to, f)) }, f.Close, nil
	}}
	if err := p.treeIn(shelf.made.root, at, name); err != nil {
		return fmt.Errorf("cloning shelf %s: %w", shelf.dir, err)
	}
	return shelf.Unchanged()
}

// CanClone returns why files below the directory from cannot be cloned into the
// directory to, or nil.
func CanClone(from, to string) error {
	original, err := os.CreateTemp(from, "trial-")
	if err != nil {
		return err
	}
	defer os.Remove(original.Name())
	defer original.Close()
	copied, err := os.CreateTemp(to, "trial-")
	if err != nil {
		return err
	}
	defer os.Remove(copied.Name())
	defer copied.Close()
	if _, err := original.WriteString("original"); err != nil {
		return err
	}
	return cloneFile(copied, original)
}
