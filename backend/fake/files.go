package fake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Files is a workspace in memory, keyed by clean slash-separated paths. Only
// the program of a running command can use it.
type Files struct{ entries map[string]entry }

// entry is a file, a symlink when link is set, or an explicit directory.
type entry struct {
	content    []byte
	executable bool
	link       string
	dir        bool
}

// Read returns the content of a regular file. Symlinks are not followed.
func (f *Files) Read(name string) ([]byte, error) {
	e, err := f.regular(name)
	return e.content, err
}

// Executable reports whether name is a regular file that can be executed.
func (f *Files) Executable(name string) bool {
	e, err := f.regular(name)
	return err == nil && e.executable
}

// Write makes a regular file; conflicting entries are removed.
func (f *Files) Write(name string, content []byte) {
	f.set(path.Clean(name), entry{content: bytes.Clone(content)})
}

// Symlink makes a symlink; conflicting entries are removed.
func (f *Files) Symlink(target, name string) { f.set(path.Clean(name), entry{link: target}) }

// Remove removes name and everything below it.
func (f *Files) Remove(name string) {
	name = path.Clean(name)
	maps.DeleteFunc(f.entries, func(at string, _ entry) bool {
		return name == "." || at == name || strings.HasPrefix(at, name+"/")
	})
}

// Names returns the paths of all regular files and symlinks, sorted.
func (f *Files) Names() []string {
	var names []string
	for at, e := range f.entries {
		if !e.dir {
			names = append(names, at)
		}
	}
	slices.Sort(names)
	return names
}

func (f *Files) place(ctx context.Context, store cache.Store, in backend.Input) error {
	at := path.Clean(in.Path)
	if !fs.ValidPath(at) || strings.Contains(at, "\x00") {
		return fmt.Errorf("%w: not a path inside the workspace", fs.ErrInvalid)
	}
	if in.Tree.IsZero() {
		if at == "." {
			return errors.New("a file cannot be the workspace")
		}
		f.Write(at, in.Content)
		return nil
	}
	if in.Replace {
		f.Remove(at)
	}
	if at != "." {
		f.set(at, entry{dir: true})
	}
	return cache.WalkTree(ctx, store, in.Tree, func(e cache.Entry) error {
		placed := entry{executable: e.Executable, link: e.Link, dir: e.Dir}
		if !e.Dir && e.Link == "" {
			content, err := cache.ReadBlob(ctx, store, e.Digest, -1)
			if err != nil {
				return err
			}
			placed.content = content
		}
		f.set(path.Join(at, e.Path), placed)
		return nil
	})
}

// set puts e at name. Parents that are not directories are replaced; a directory keeps its content.
func (f *Files) set(name string, e entry) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if parent, there := f.entries[dir]; there && !parent.dir {
			delete(f.entries, dir)
		}
	}
	if !e.dir {
		f.Remove(name)
	}
	if f.entries == nil {
		f.entries = map[string]entry{}
	}
	f.entries[name] = e
}

// regular finds a regular file without following symlinks.
func (f *Files) regular(name string) (entry, error) {
	if !fs.ValidPath(name) || name == "." {
		return entry{}, fmt.Errorf("%w: not a path inside the workspace", fs.ErrInvalid)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if f.entries[dir].link != "" {
			return entry{}, fmt.Errorf("%w: its path contains a symlink", backend.ErrNotRegular)
		}
	}
	e, there := f.entries[name]
	switch {
	case e.link != "":
		return entry{}, fmt.Errorf("%w: it is a symlink", backend.ErrNotRegular)
	case e.dir || !there && f.implicitDir(name):
		return entry{}, fmt.Errorf("%w: it is a directory", backend.ErrNotRegular)
	case !there:
		return entry{}, fs.ErrNotExist
	}
	return e, nil
}

func (f *Files) implicitDir(name string) bool {
	for at := range f.entries {
		if strings.HasPrefix(at, name+"/") {
			return true
		}
	}
	return false
}

func (f *Files) open(name string) (io.ReadCloser, error) {
	e, err := f.regular(name)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(e.content)), nil
}
