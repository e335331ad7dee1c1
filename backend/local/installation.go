//go:build unix

package local

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// cachedInstallation caches the content of an installation, like cachedPackages.
type cachedInstallation struct {
	at   time.Time
	text string
}

// installation returns a digest of the files that belong to a program and that commands see: all below the
// directory with its bin and lib or, of a script elsewhere, all next to it. Interpreters and environments of
// Python are identified by version and packages, and programs of the system and of directories such as ~/.local,
// which unrelated programs share, by their own content alone: for those it returns "".
func (b *Backend) installation(program string) string {
	if isPython(program) {
		return ""
	}
	dir := ""
	paths := []string{program}
	if real, err := filepath.EvalSymlinks(program); err == nil && real != program {
		paths = append(paths, real)
	}
	for _, path := range paths {
		if isPython(path) {
			return ""
		}
		if found := b.installedIn(path); found != "" {
			dir = found
		}
	}
	if dir == "" {
		return ""
	}
	key := dir + "\x00" + program
	if known, ok := b.installed.Load(key); ok && time.Since(known.(cachedInstallation).at) < packagesKept {
		return known.(cachedInstallation).text
	}
	now := cachedInstallation{at: time.Now(), text: b.tree(dir, paths)}
	b.installed.Store(key, now)
	return now.text
}

// installedIn returns the directory that only the program at path and what belongs to it are in, or "".
func (b *Backend) installedIn(path string) string {
	own := filepath.Dir(path)
	inSystem := func(dir string) bool {
		return slices.ContainsFunc(systemDirs, func(system string) bool { return subpath.Contains(system, dir) })
	}
	shared := func(dir string) bool {
		below, in := b.inHome(dir)
		return in && strings.HasPrefix(below, ".") && strings.Count(below, "/") < 2 || dir == b.opt.Home || slices.Contains(sharedPlaces, dir)
	}
	if inSystem(own) {
		return ""
	}
	for _, dir := range []string{filepath.Dir(own), own} {
		switch {
		case shared(dir):
		case isEnvironment(dir):
			return ""
		case slices.Contains(b.prefix(dir), dir) && !b.covers(dir):
			return dir
		}
	}
	if shared(own) || b.covers(own) || scriptText(path) == "" {
		return ""
	}
	return own
}

// systemDirs lists the directories of programs that the system or its package manager installed.
var systemDirs = []string{"/bin", "/gnu", "/home/linuxbrew", "/lib", "/lib64", "/nix", "/opt/homebrew", "/opt/local", "/sbin", "/snap", "/usr"}

// isEnvironment reports whether a directory is a Python environment, whose packages are identified.
func isEnvironment(dir string) bool {
	for _, mark := range []string{"pyvenv.cfg", "conda-meta"} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}

// generatedDirs lists names of directories of compiled modules, and of packages, which their records identify.
var generatedDirs = []string{"__pycache__", "site-packages", "dist-packages"}

// tree returns the digest of all files below a directory, except those of except, of hidden directories, of
// generatedDirs and of unhashed ones; "" without any.
func (b *Backend) tree(dir string, except []string) string {
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, dir)
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read cannot be used
		case d.IsDir():
			if strings.HasPrefix(d.Name(), ".") && path != dir || slices.Contains(generatedDirs, d.Name()) || slices.Contains(b.opt.Unhashed, path) {
				return fs.SkipDir
			}
			return nil
		case slices.Contains(except, path):
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			name += " to " + target
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			name += " " + b.contents(path)
		}
		if all = append(all, name); len(all) > mostSources {
			return errManySources
		}
		return nil
	})
	switch {
	case err != nil:
		return unknownTarget
	case len(all) == 0:
		return ""
	}
	return cache.SumBytes([]byte(strings.Join(all, "\n"))).String()
}
