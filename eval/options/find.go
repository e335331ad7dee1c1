package options

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/lang"
)

// IsProject reports whether a directory contains a configuration.
func IsProject(dir string) bool { return mainFile(dir) != nil }

// mainFile returns the main file of the configuration in a directory, or nil.
func mainFile(dir string) fs.FileInfo {
	info, err := os.Stat(filepath.Join(dir, lang.MainFile))
	if err != nil || info.IsDir() {
		return nil
	}
	return info
}

// InProject reports whether Dir or a parent contains a configuration.
func (o *Options) InProject() bool {
	dir, err := filepath.Abs(o.Path("."))
	if err != nil || o.File != "" {
		return true
	}
	_, found := FindProject(dir)
	return found
}

// FindProject looks for the configuration in a directory and its parents, and returns the directory that
// contains it. In parents, it ignores a file of another user: in a shared directory, one user could run
// programs as another.
func FindProject(start string) (dir string, found bool) {
	for dir = start; ; dir = filepath.Dir(dir) {
		if info := mainFile(dir); info != nil && (dir == start || ownFile(info)) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}
