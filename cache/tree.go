package cache

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Entry is an entry of a tree: a file (Digest set), a symlink (Link set), a directory (Dir set) or, only
// for BuildTree, an existing tree (Tree set). Exactly one of these is set.
type Entry struct {
	Path       string // slash-separated, clean, relative, UTF-8
	Digest     Digest
	Executable bool
	Link       string // literal target
	Dir        bool
	Tree       Digest
}

// Tree is a directory with everything below it, as REAPI Directory messages.
// Equal trees have equal roots.
type Tree struct {
	Root  Digest
	Blobs map[Digest][]byte // Directory messages; not the files' contents
}

// BuildTree builds a tree from entries in any order. Parents need no entries; an explicit directory
// matters only if it is empty.
func BuildTree(entries []Entry) (*Tree, error) {
	sorted := slices.Clone(entries)
	for i := range sorted {
		if err := sorted[i].check(); err != nil {
			return nil, fmt.Errorf("building tree: %q: %w", sorted[i].Path, err)
		}
	}
	slices.SortFunc(sorted, func(a, b Entry) int { return comparePaths(a.Path, b.Path) })
	t := &Tree{Blobs: map[Digest][]byte{}}
	root, err := t.add(sorted, 0)
	if err != nil {
		return nil, fmt.Errorf("building tree: %w", err)
	}
	t.Root = root
	return t, nil
}

// comparePaths orders paths bytewise by component, so that a directory's content directly follows it.
// Comparing strings would not: "a-b" < "a/b".
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			switch {
			case a[i] == '/':
				return -1
			case b[i] == '/':
				return 1
			}
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

func (e *Entry) check() error {
	if e.Path == "" || e.Path == "." || path.Clean(e.Path) != e.Path || path.IsAbs(e.Path) {
		return errors.New("path is not clean and relative")
	}
	for name := range strings.SplitSeq(e.Path, "/") {
		if err := checkName(name); err != nil {
			return err
		}
	}
	kinds := 0
	for _, is := range []bool{!e.Digest.IsZero(), e.Link != "", e.Dir, !e.Tree.IsZero()} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("entry must be exactly one of file, symlink and directory")
	case e.Link != "":
		return checkTarget(e.Link)
	case e.Executable && e.Dir:
		return errors.New("a directory cannot have an executable bit")
	case !e.Tree.IsZero():
		return checkDigest(e.Tree)
	case !e.Dir:
		return checkDigest(e.Digest)
	}
	return nil
}

// add adds the directory with the entries es, whose paths are relative to it from the offset at on.
func (t *Tree) add(es []Entry, at int) (Digest, error) {
	var d directory
	for i := 0; i < len(es); {
		first := &es[i]
		name, _, deeper := strings.Cut(first.Path[at:], "/")
		end := at + len(name)
		j := i + 1
		for j < len(es) && strings.HasPrefix(es[j].Path[at:], name) && (len(es[j].Path) == end || es[j].Path[end] == '/') {
			if len(es[j].Path) == end {
				return Digest{}, fmt.Errorf("duplicate path %q", es[j].Path)
			}
			j++
		}
		below := es[i:j]
		i = j
		if !deeper {
			below = below[1:]
			if !first.Dir && len(below) > 0 {
				return Digest{}, fmt.Errorf("%q is not a directory, but %q is below it", first.Path, below[0].Path)
			}
		}
		switch {
		case !deeper && !first.Tree.IsZero():
			d.dirs = append(d.dirs, dirNode{name, first.Tree})
		case deeper || first.Dir:
			sub, err := t.add(below, end+1)
			if err != nil {
				return Digest{}, err
			}
			d.dirs = append(d.dirs, dirNode{name, sub})
		case first.Link != "":
			d.links = append(d.links, linkNode{name, first.Link})
		default:
			d.files = append(d.files, fileNode{name, first.Digest, first.Executable})
		}
	}
	b := d.encode()
	if len(b) > maxDirectoryBytes {
		return Digest{}, fmt.Errorf("a directory has too many entries: %d bytes, more than %d", len(b), maxDirectoryBytes)
	}
	g := SumBytes(b)
	t.Blobs[g] = b
	return g, nil
}

// Store puts the Directory blobs, the root last. The caller must store the files' blobs.
func (t *Tree) Store(ctx context.Context, s Store) error {
	order := make([]Digest, 0, len(t.Blobs))
	for g := range t.Blobs {
		if g != t.Root {
			order = append(order, g)
		}
	}
	slices.SortFunc(order, func(a, b Digest) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	for _, g := range append(order, t.Root) {
		if _, err := PutBytes(ctx, s, t.Blobs[g]); err != nil {
			return fmt.Errorf("storing tree %s: %w", t.Root, err)
		}
	}
	return nil
}
