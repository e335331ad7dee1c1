package wake

import (
	"os"
	"path/filepath"
	"runtime"
)

// Path is a watched path.
type Path struct {
	Name string // absolute
	List bool   // watch the names in the directory
}

// entries holds the directory entries that the meaning of paths depends on, by real directory: each component
// of a path, also behind symbolic links, up to the first missing one.
type entries struct {
	names map[string]map[string]bool
	lists map[string]bool // directories in which every entry matters
	real  map[string]string
}

func entriesOf(paths []Path) *entries {
	e := &entries{names: map[string]map[string]bool{}, lists: map[string]bool{}, real: map[string]string{}}
	for _, p := range paths {
		if real := e.resolve(filepath.Clean(p.Name), true, 0); real != "" && p.List {
			e.lists[real] = true
		}
	}
	return e
}

// mostLinks limits the symbolic links in a path.
const mostLinks = 40

// resolve returns the real path, or "" if it does not exist.
func (e *entries) resolve(path string, last bool, links int) string {
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	if real, known := e.real[path]; known {
		return real
	}
	in := e.resolve(dir, false, links)
	if in == "" || links > mostLinks {
		return ""
	}
	name := filepath.Base(path)
	if last || watchesAbove {
		if e.names[in] == nil {
			e.names[in] = map[string]bool{}
		}
		e.names[in][name] = true
	}
	real := filepath.Join(in, name)
	switch info, err := os.Lstat(real); {
	case err != nil:
		if !last && !watchesAbove { // where it would appear
			e.resolve(path, true, links)
		}
		real = ""
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(real)
		if err == nil && !filepath.IsAbs(target) {
			target = filepath.Join(in, target)
		}
		if real = ""; err == nil {
			real = e.resolve(target, last, links+1)
		}
	}
	e.real[path] = real
	return real
}

// watchesAbove reports whether watching parent directories is cheap: on other systems it takes a descriptor for
// each file in them.
const watchesAbove = runtime.GOOS == "linux" || runtime.GOOS == "windows"

// matter reports whether an event for a path in a real directory is relevant.
func (e *entries) matter(path string) bool {
	dir := filepath.Dir(path)
	return e.lists[dir] || e.names[dir][filepath.Base(path)] || e.lists[path] || e.names[path] != nil
}
