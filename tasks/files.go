package tasks

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Files holds the files that a task of another package reads: files of a Source, and outputs of other
// nodes.
type Files struct {
	*Source
	made []Made
}

// Made is a file, or all files, in the output tree of a dependency, with the name for the file or the
// directory in the workspace.
type Made struct {
	Name string
	As   string // the dependency, whose output is TreeOutput
	Path string // of the file
	Dir  bool   // all files of the tree
}

// NewFiles returns the files of a source from NewNamed, and of dependencies.
func NewFiles(here *Source, made []Made) *Files { return &Files{here, made} }

// Describe writes the files of the source; the engine writes the outputs of dependencies.
func (f *Files) Describe(ctx context.Context, m *graph.Manifest) error {
	if err := f.Source.Describe(ctx, m); err != nil {
		return err
	}
	for _, made := range f.made {
		m.String("made "+made.Name, path.Join(made.As, made.Path))
	}
	return nil
}

// Known reports whether Found returns all of the files.
func (f *Files) Known() bool { return len(f.made) == 0 }

// Put stores the files that the store lacks and returns all of them. If a dependency lacks a file, the
// error is a *graph.InputError.
func (f *Files) Put(ctx context.Context, w *graph.Work) ([]cache.Entry, error) {
	if err := f.PutFound(ctx, w.Store); err != nil {
		return nil, err
	}
	all := f.Found()
	for _, made := range f.made {
		found, err := made.entries(ctx, w)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (m *Made) entries(ctx context.Context, w *graph.Work) (found []cache.Entry, err error) {
	root, ok := w.Input(m.As, TreeOutput)
	if !ok {
		return nil, fmt.Errorf("dependency %q has no output %q", m.As, TreeOutput)
	}
	err = cache.WalkTree(ctx, w.Store, root, func(e cache.Entry) error {
		switch {
		case e.Dir && !m.Dir && !strings.HasPrefix(m.Path, e.Path+"/"):
			return fs.SkipDir
		case e.Dir, !m.Dir && e.Path != m.Path:
			return nil
		case e.Link != "":
			return &graph.InputError{Err: fmt.Errorf("%s of the task is a link, not a file", e.Path)}
		case m.Dir:
			e.Path = path.Join(m.Name, e.Path)
		default:
			e.Path = m.Name
		}
		e.Executable = false
		found = append(found, e)
		return nil
	})
	if err == nil && len(found) == 0 {
		err = &graph.InputError{Err: fmt.Errorf("the task does not create the file %s", path.Join(m.As, m.Path))}
	}
	return found, err
}
