// Package subpath relates paths to the directories that contain them, by their names alone: callers resolve symbolic
// links first where these matter, with Real. Glob searches a directory.
package subpath

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/bmatcuk/doublestar/v4"
)

// Rel returns path relative to dir, with slashes, and reports whether path is dir or below it. A directory is "."
// relative to itself. If only one of both is absolute, path is not below dir.
func Rel(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Contains reports whether path is dir or below it.
func Contains(dir, path string) bool {
	_, ok := Rel(dir, path)
	return ok
}

// Real returns the absolute path of an existing file without links.
func Real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Glob returns the paths in a directory that match a valid doublestar pattern. As in shells, "*", "?" and "**" match
// no leading dot: editors and systems leave hidden files next to others. Links to directories are not entered, and
// unreadable directories are errors.
func Glob(dir fs.FS, pattern string, options ...doublestar.GlobOption) ([]string, error) {
	return doublestar.Glob(dir, pattern, append(options, rules...)...)
}

// MatchesAny reports whether Glob finds a path. It stops at the first.
func MatchesAny(dir fs.FS, pattern string) (found bool, err error) {
	err = doublestar.GlobWalk(dir, pattern, func(string, fs.DirEntry) error {
		found = true
		return doublestar.SkipDir
	}, rules...)
	if errors.Is(err, doublestar.SkipDir) {
		err = nil
	}
	return found, err
}

var rules = []doublestar.GlobOption{doublestar.WithNoHidden(), doublestar.WithFailOnIOErrors(), doublestar.WithNoFollow()}
