package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// dockerignore is the name of the file at the root of a build's context that lists excluded paths.
const dockerignore = ".dockerignore"

// NewContext returns the task that stores the context of an image's build: the tree below root, without
// paths that its .dockerignore excludes.
func NewContext(root string, sources Sources) *Source {
	s := &Source{sources: sources}
	s.scan = func() ([]file, error) {
		sources.observe("file", filepath.Join(root, dockerignore))
		ignored, err := readDockerignore(root)
		if err != nil {
			return nil, err
		}
		found, err := scanTree(root, ignored.leavesOut, sources.observe)
		if err != nil {
			return nil, fmt.Errorf("reading the context of the build: %w", err)
		}
		// A directory that can contain included files was searched.
		return slices.DeleteFunc(found, func(f file) bool { return f.Dir && ignored.names(f.Path) }), nil
	}
	return s
}

// dockerignored is the content of a .dockerignore; the zero value excludes nothing.
type dockerignored struct {
	matcher *patternmatcher.PatternMatcher
}

func readDockerignore(root string) (dockerignored, error) {
	name := filepath.Join(root, dockerignore)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return dockerignored{}, nil
	}
	if err != nil {
		return dockerignored{}, err
	}
	defer f.Close()
	patterns, err := ignorefile.ReadAll(f)
	if err != nil {
		return dockerignored{}, fmt.Errorf("reading %s: %w", name, err)
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return dockerignored{}, fmt.Errorf("%s: %w", name, err)
	}
	return dockerignored{matcher}, nil
}

// names reports whether a path, or a directory above it, is excluded.
func (d dockerignored) names(rel string) bool {
	if d.matcher == nil {
		return false
	}
	// It returns errors only for patterns, which New has checked.
	matched, err := d.matcher.MatchesOrParentMatches(filepath.FromSlash(rel))
	return err == nil && matched
}

// leavesOut implements Ignore. A directory is omitted with all of its content, unless a pattern with "!"
// can include a path below it.
func (d dockerignored) leavesOut(rel string, dir bool) bool {
	if !d.names(rel) {
		return false
	}
	return !dir || !slices.ContainsFunc(d.matcher.Patterns(), func(p *patternmatcher.Pattern) bool {
		return p.Exclusion() && reaches(filepath.ToSlash(p.String()), rel)
	})
}

// reaches reports whether a pattern can match a path below a directory, comparing name by name; wildcards
// can match any name.
func reaches(pattern, dir string) bool {
	names := strings.Split(pattern, "/")
	for i, name := range strings.Split(dir, "/") {
		if i >= len(names)-1 || strings.ContainsAny(names[i], `*?[\`) {
			return i < len(names) && strings.ContainsAny(names[i], `*?[\`)
		}
		if names[i] != name {
			return false
		}
	}
	return true
}
