package tasks

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Named is a file or directory of this machine with its slash-separated name in the workspace.
type Named struct {
	Name string
	Abs  string // absolute path
}

// NewNamed returns a source of single files and of the files below directories, whose names are prefixed
// by the directory's Name. Links to files are followed; no file is executable. Tasks of other packages use
// it to describe and store files that they read themselves.
func NewNamed(files, dirs []Named, sources Sources) *Source {
	return &Source{sources: sources, scan: func() ([]file, error) {
		var found []file
		for _, d := range dirs {
			below, err := scanFiles(d, sources.observe)
			if err != nil {
				return nil, err
			}
			found = append(found, below...)
		}
		for _, f := range files {
			one, err := scanFile(f.Abs, f.Name, sources.observe)
			if err != nil {
				return nil, err
			}
			one[0].Executable = false
			found = append(found, one...)
		}
		return found, nil
	}}
}

// scanFiles lists the files below a directory, in lexical order.
func scanFiles(d Named, observe observer) ([]file, error) {
	var found []file
	err := filepath.WalkDir(d.Abs, func(abs string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			observe("dir", abs)
		}
		if err != nil || e.IsDir() {
			return err
		}
		info, err := os.Stat(abs)
		if err != nil {
			return namedLink(abs, err)
		}
		rel, err := filepath.Rel(d.Abs, abs)
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is a %s, not a file", abs, cache.TypeName(info.Mode().Type()))
		case !utf8.ValidString(rel):
			return fmt.Errorf("the file name %q in %s is not valid UTF-8", rel, d.Abs)
		}
		one, err := scanFile(abs, path.Join(d.Name, filepath.ToSlash(rel)), observe)
		if err != nil {
			return err
		}
		one[0].Executable = false
		found = append(found, one...)
		return nil
	})
	return found, err
}

// Found returns the files of the last Describe, in its order.
func (s *Source) Found() []cache.Entry {
	entries := make([]cache.Entry, len(s.found))
	for i, f := range s.found {
		entries[i] = f.Entry
	}
	return entries
}

// PutFound stores the files of the last Describe that the store lacks. A file that has changed meanwhile is
// a *cache.ChangedError.
func (s *Source) PutFound(ctx context.Context, store cache.Store) error {
	var bytes int64
	for _, f := range s.found {
		bytes += f.Digest.Size
	}
	return sideBySide(len(s.found), bytes, func(i int) error {
		if f := s.found[i]; !f.Dir && f.Link == "" {
			return s.put(ctx, store, f)
		}
		return nil
	})
}
