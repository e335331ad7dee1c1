package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// readDirectory reads one Directory message of a tree.
func readDirectory(ctx context.Context, s Store, g Digest) (*directory, error) {
	b, err := ReadBlob(ctx, s, g, maxDirectoryBytes)
	if err != nil {
		return nil, err
	}
	d, err := decodeDirectory(b)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", g, err)
	}
	return d, nil
}

// WalkTree calls fn for everything in the tree except its root: names in bytewise order, a directory
// before its content. Directories are entries, so that BuildTree builds the same tree from the entries. If
// fn returns fs.SkipDir for a directory, its content is skipped; another error ends the walk and is
// returned unchanged. For a missing Directory, it returns a *MissingError.
func WalkTree(ctx context.Context, s Store, root Digest, fn func(Entry) error) error {
	return walkTree(ctx, s, root, "", fn)
}

func walkTree(ctx context.Context, s Store, g Digest, at string, fn func(Entry) error) error {
	d, err := readDirectory(ctx, s, g)
	if err != nil {
		return fmt.Errorf("walking tree at %q: %w", path.Join(".", at), err)
	}
	return d.eachName(func(i int, kind nameKind) error {
		switch kind {
		case fileName:
			f := d.files[i]
			return fn(Entry{Path: path.Join(at, f.name), Digest: f.digest, Executable: f.executable})
		case linkName:
			l := d.links[i]
			return fn(Entry{Path: path.Join(at, l.name), Link: l.target})
		}
		sub := d.dirs[i]
		below := path.Join(at, sub.name)
		err := fn(Entry{Path: below, Dir: true})
		if err == fs.SkipDir {
			return nil
		}
		if err != nil {
			return err
		}
		return walkTree(ctx, s, sub.digest, below, fn)
	})
}

// EachBlob calls fn for every blob of an output that is not in seen: directories, before their content,
// and files. It adds them to seen, by content and kind, since a file can have the content of a Directory.
// If fn returns fs.SkipDir for a directory, its content is skipped; another error ends the walk and is
// returned unchanged. For a Directory that is missing, or was dropped as damaged, it returns a
// *MissingError.
func EachBlob(ctx context.Context, s Store, o Output, seen map[Output]bool, fn func(Output) error) error {
	o.Name = ""
	if seen[o] {
		return nil
	}
	seen[o] = true
	err := fn(o)
	if o.Tree && err == fs.SkipDir {
		return nil
	}
	if err != nil || !o.Tree {
		return err
	}
	d, err := readDirectory(ctx, s, o.Digest)
	if corrupt := (*CorruptError)(nil); errors.As(err, &corrupt) {
		return &MissingError{Digest: o.Digest}
	}
	if err != nil {
		return err
	}
	for _, f := range d.files {
		if err := EachBlob(ctx, s, Output{Digest: f.digest}, seen, fn); err != nil {
			return err
		}
	}
	for _, sub := range d.dirs {
		if err := EachBlob(ctx, s, Output{Digest: sub.digest, Tree: true}, seen, fn); err != nil {
			return err
		}
	}
	return nil
}

// OutputComplete is like TreeComplete for an output, which can be a single blob.
func OutputComplete(ctx context.Context, s Store, o Output) error {
	if o.Tree {
		return TreeComplete(ctx, s, o.Digest)
	}
	has, err := s.Has(ctx, o.Digest)
	if err == nil && !has {
		err = &MissingError{Digest: o.Digest}
	}
	return err
}

// TreeComplete reports whether every blob of the tree, directories and files, is in the store: it returns
// nil, or a *MissingError for the first missing blob. It reads the directories, but only checks that the
// files exist. All of them count as used.
func TreeComplete(ctx context.Context, s Store, root Digest) error {
	return EachBlob(ctx, s, Output{Digest: root, Tree: true}, map[Output]bool{}, func(o Output) error {
		ok, err := s.Has(ctx, o.Digest)
		if err == nil && !ok {
			err = &MissingError{Digest: o.Digest}
		}
		return err
	})
}
