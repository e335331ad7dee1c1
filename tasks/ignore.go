package tasks

import (
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// Ignore reports whether a path of a source, relative to it and with slashes,
// is left out: a directory with all that is below it. Nil leaves out nothing.
type Ignore func(rel string, dir bool) bool

// Doublestar leaves out what matches one of the doublestar patterns, which
// must be valid: "*" stays within a name, "**" stands for directories.
func Doublestar(patterns []string) Ignore {
	return func(rel string, _ bool) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := doublestar.Match(p, rel)
			return err == nil && ok
		})
	}
}

// Fnmatch leaves out what matches one of the patterns by Python's fnmatch, to which "/" is a character like any other. A path
// may match as it is or behind "./", and a directory ends with a slash, so that
// "venv/*" is the directory venv and "*.pyc" stands for files at any depth.
func Fnmatch(patterns []string) Ignore {
	compiled := make([]fnmatchPattern, len(patterns))
	for i, p := range patterns {
		compiled[i] = compileFnmatch(p)
	}
	return func(rel string, dir bool) bool {
		name := "./" + rel
		if dir {
			name += "/"
		}
		return slices.ContainsFunc(compiled, func(p fnmatchPattern) bool {
			return p.Match(name[len("./"):]) || p.Match(name)
		})
	}
}

// Either leaves out what one of two does.
func Either(a, b Ignore) Ignore {
	return func(rel string, dir bool) bool { return a.leavesOut(rel, dir) || b.leavesOut(rel, dir) }
}

// leavesOut allows for a nil Ignore.
func (i Ignore) leavesOut(rel string, dir bool) bool { return i != nil && i(rel, dir) }
