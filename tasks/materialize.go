package tasks

import (
	"fmt"
	"os"
	"path"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// Asset describes the content of a materialize node.
type Asset struct {
	Source string   // absolute path of a file or directory, or a doublestar pattern if Glob is set
	Glob   bool     //
	Target string   // name of the file or directory below the assets directory
	Ignore []string // doublestar patterns relative to the source directory
	Mode   string   // "" keeps the modes of files, "0644" and "0755" force one
	SHA256 string   // expected digest of a single file; "" means unchecked
}

// NewMaterialize returns the task that stores an asset as a tree to be merged
// into the assets directory. Globs are expanded here instead of in the
// language, because cty would normalise file names.
func NewMaterialize(a Asset, sources Sources) *Source {
	s := &Source{sources: sources}
	s.scan = func() ([]file, error) {
		found, err := a.scan(sources.observe)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if a.Mode != "" && !found[i].Dir && found[i].Link == "" {
				found[i].Executable = a.Mode == "0755"
			}
		}
		return found, a.verify(s, found)
	}
	return s
}

func (a Asset) scan(observe observer) ([]file, error) {
	if a.Glob {
		return a.scanGlob(observe)
	}
	observe("exists", a.Source)
	info, err := os.Stat(a.Source)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return scanFile(a.Source, a.Target, observe)
	}
	found, err := scanTree(a.Source, Doublestar(a.Ignore), observe)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the directory %s has no files", a.Source)
	}
	return below(a.Target, found), nil
}

func (a Asset) scanGlob(observe observer) ([]file, error) {
	base, pattern := doublestar.SplitPattern(a.Source)
	observe("fileset", base+"\x00"+pattern)
	names, err := subpath.Glob(os.DirFS(base), pattern, doublestar.WithFilesOnly())
	if err != nil {
		return nil, fmt.Errorf("expanding %s: %w", a.Source, err)
	}
	ignore := Doublestar(a.Ignore)
	var found []file
	for _, name := range names {
		if ignore.leavesOut(name, false) {
			continue
		}
		if err := follow(base, name, observe); err != nil {
			return nil, fmt.Errorf("%s: following links from %s: %w", path.Join(base, name), base, err)
		}
		one, err := scanFile(path.Join(base, name), name, observe)
		if err != nil {
			return nil, err
		}
		found = append(found, one...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s matches no file", a.Source)
	}
	return below(a.Target, found), nil
}

func (a Asset) verify(s *Source, found []file) error {
	if a.SHA256 == "" {
		return nil
	}
	if len(found) != 1 || found[0].Dir || found[0].Link != "" {
		return fmt.Errorf("sha256 is set, but %s is not a single file", a.Source)
	}
	if err := s.hash(found); err != nil {
		return err
	}
	if got := found[0].Digest.Hex(); got != a.SHA256 {
		return fmt.Errorf("%s has the SHA-256 %s, want %s", a.Source, got, a.SHA256)
	}
	return nil
}

func below(target string, found []file) []file {
	for i := range found {
		found[i].Path = path.Join(target, found[i].Path)
	}
	return found
}
