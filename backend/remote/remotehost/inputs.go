package remotehost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
)

// inputs is a store of the files in an input root. Added content stays in memory.
type inputs struct {
	*cache.Memory
	dir   string
	paths map[cache.Digest]string // of verified files
}

func newInputs(dir string) *inputs {
	return &inputs{Memory: cache.NewMemory(), dir: dir, paths: map[cache.Digest]string{}}
}

// Open implements cache.Store.
func (s *inputs) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	if path, ok := s.paths[d]; ok {
		return os.Open(path)
	}
	return s.Memory.Open(ctx, d)
}

// Has implements cache.Store.
func (s *inputs) Has(ctx context.Context, d cache.Digest) (bool, error) {
	if _, ok := s.paths[d]; ok {
		return true, nil
	}
	return s.Memory.Has(ctx, d)
}

// hasSize reports whether any content has the given size.
func (s *inputs) hasSize(size int64) bool {
	for d := range s.paths {
		if d.Size == size {
			return true
		}
	}
	return false
}

// Content implements parcel.Source.
func (s *inputs) Content(d cache.Digest) (io.ReadCloser, error) {
	return s.Open(context.Background(), d)
}

// Piece implements parcel.Source. Content from pieces is verified by the reader.
func (s *inputs) Piece(d cache.Digest) (io.ReadCloser, error) {
	return os.Open(filepath.Join(s.dir, wire.PiecesDir, d.Hex()))
}

// add adds the trees and contents of inputs.
func (s *inputs) add(ctx context.Context, all []wire.Input) error {
	for i, in := range all {
		if in.Tree.IsZero() {
			if _, err := cache.PutBytes(ctx, s.Memory, in.Content); err != nil {
				return err
			}
			continue
		}
		if err := s.addTree(ctx, in.Tree, filepath.Join(s.dir, wire.InputsDir, strconv.Itoa(i))); err != nil {
			return fmt.Errorf("input %q: %w", in.Path, err)
		}
	}
	return nil
}

// errChanged means that a file of the input root does not have the expected content.
var errChanged = errors.New("the worker's files changed after they were sent: something wrote to its cache; have the engine run actions as a different user")

func (s *inputs) addTree(ctx context.Context, want cache.Digest, dir string) error {
	var entries []cache.Entry
	buffer := make([]byte, 64<<10)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		e := cache.Entry{Path: filepath.ToSlash(path[len(dir)+1:])}
		switch d.Type() {
		case fs.ModeDir:
			e.Dir = true
		case fs.ModeSymlink:
			e.Link, err = os.Readlink(path)
		default:
			info, statErr := d.Info()
			if statErr != nil {
				return statErr
			}
			e.Executable = info.Mode()&0o100 != 0
			e.Digest, err = s.addFile(path, buffer)
		}
		entries = append(entries, e)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tree, err := cache.BuildTree(entries)
	if err != nil {
		return err
	}
	if tree.Root != want {
		return errChanged
	}
	return tree.Store(ctx, s.Memory)
}

func (s *inputs) addFile(path string, buffer []byte) (d cache.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	h := sha256.New()
	d.Size, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, buffer)
	h.Sum(d.Hash[:0])
	s.paths[d] = path
	return d, err
}

// file verifies that a file has a digest, adds it, and returns its path.
func (s *inputs) file(name string, want cache.Digest) (string, error) {
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if known, ok := s.paths[want]; ok && known == path {
		return path, nil
	}
	got, err := s.addFile(path, make([]byte, 64<<10))
	if err == nil && got != want {
		err = errChanged
	}
	if err != nil {
		return "", fmt.Errorf("input file %s: %w", name, err)
	}
	return path, nil
}

// capture stores the output of a command. Output that does not fit into a Result is
// written to pieces.
type capture struct {
	small  bytes.Buffer
	pieces interface {
		io.Writer
		Close() ([]cache.Digest, error)
	}
	spilled bool
}

// Write implements io.Writer.
func (c *capture) Write(p []byte) (int, error) {
	if !c.spilled && c.small.Len()+len(p) <= wire.Inline {
		return c.small.Write(p)
	}
	if !c.spilled {
		c.spilled = true
		if _, err := c.pieces.Write(c.small.Bytes()); err != nil {
			return 0, err
		}
		c.small.Reset()
	}
	return c.pieces.Write(p)
}

func (c *capture) close() (small []byte, pieces []cache.Digest, err error) {
	pieces, err = c.pieces.Close()
	return c.small.Bytes(), pieces, err
}
