package options

import (
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/lang"
)

// FindProject looks for the configuration in a directory and those above it, and returns the
// one that has it. Above the first a file of another user is not taken: a directory that
// several share would let one run programs as another.
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
