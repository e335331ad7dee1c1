package gen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/gen/answer"
	"github.com/fevalgraph/fevalgraph/graph"
)

// sources is the task that reads existing files.
type sources struct {
	dir   string // of the generator
	place string // relative to it

	files []answer.File // set by Describe
}

// Describe implements graph.Task.
func (s *sources) Describe(_ context.Context, m *graph.Manifest) error {
	root, err := os.OpenRoot(s.dir)
	if err == nil {
		defer root.Close()
		s.files, err = readFiles(root, s.place)
	}
	if err != nil {
		return &graph.InputError{Err: fmt.Errorf("reading earlier code: %w", err)}
	}
	m.Int("recipe", 1)
	for _, f := range s.files {
		m.Digest("file "+f.Path, cache.SumBytes([]byte(f.Content)))
	}
	return nil
}

// Run implements graph.Task.
func (s *sources) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	root, err := putTree(ctx, w.Store, s.files)
	return graph.Outcome{Outputs: []cache.Output{root}}, err
}

// errNoPlainFiles means that a directory contains an entry that no answer makes.
var errNoPlainFiles = errors.New("it contains something other than files and directories")

// readFiles reads a directory of plain files, without following links.
func readFiles(root *os.Root, place string) ([]answer.File, error) {
	var files []answer.File
	size := int64(0)
	err := fs.WalkDir(root.FS(), place, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s: %w", name, errNoPlainFiles)
		}
		if len(files) >= answer.MaxFiles {
			return fmt.Errorf("%s: more than %d files", place, answer.MaxFiles)
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		content, err := io.ReadAll(io.LimitReader(f, answer.MaxBytes+1-size))
		if size += int64(len(content)); size > answer.MaxBytes {
			return fmt.Errorf("%s: more than %d bytes", place, answer.MaxBytes)
		}
		files = append(files, answer.File{Path: strings.TrimPrefix(name, place+"/"), Content: string(content)})
		return err
	})
	return files, err
}

// treeOf returns the digest of files as a tree.
func treeOf(files []answer.File) (cache.Digest, error) {
	var entries []cache.Entry
	for _, f := range files {
		entries = append(entries, cache.Entry{Path: f.Path, Digest: cache.SumBytes([]byte(f.Content))})
	}
	t, err := cache.BuildTree(entries)
	if err != nil {
		return cache.Digest{}, err
	}
	return t.Root, nil
}
