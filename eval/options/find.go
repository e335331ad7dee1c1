package options

import (
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/lang"
)

// FindProject looks for the configuration in a directory and its parents, and returns the directory that
// contains it. In parents, it ignores a file of another user: in a shared directory, one user could run
// programs as another.
func FindProject(start string) (dir string, found bool) {
	for dir = start; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(filepath.Join(dir, lang.MainFile))
		if err == nil && !info.IsDir() && (dir == start || ownFile(info)) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}
