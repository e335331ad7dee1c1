package tasks

import (
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// Ignore reports whether a path of a source, relative to it and with slashes, is omitted; a directory with
// its content. Nil omits no path.
type Ignore func(rel string, dir bool) bool

// Doublestar omits paths that match a doublestar pattern: "*" matches within a name, "**" also
// directories. The patterns must be valid.
func Doublestar(patterns []string) Ignore {
	return func(rel string, _ bool) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := doublestar.Match(p, rel)
			return err == nil && ok
		})
	}
}

// Fnmatch omits paths that match a pattern of Python's fnmatch: "/" has no special meaning. A
// path is matched with and without a leading "./", and a directory has a trailing slash, so that "venv/*"
// omits the directory venv and "*.pyc" files at any depth.
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

// Either omits paths that one of two omits.
func Either(a, b Ignore) Ignore {
	return func(rel string, dir bool) bool { return a.leavesOut(rel, dir) || b.leavesOut(rel, dir) }
}

// leavesOut calls the Ignore, which can be nil.
func (i Ignore) leavesOut(rel string, dir bool) bool { return i != nil && i(rel, dir) }
