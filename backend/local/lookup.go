//go:build unix

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// errNotFound is why a program cannot be started.
var errNotFound = errors.New("program not found")

// shownDirs bounds the directories of PATH that an error names.
const shownDirs = 2

// lookPath finds the program name: as a path relative to dir when it has a
// slash, otherwise in the directories of path. Directories that are not
// absolute are skipped, so that a workspace cannot slip in a program.
func lookPath(name, path, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := executable(name); err != nil {
			return "", err
		}
		return name, nil
	}
	dirs := filepath.SplitList(path)
	var found error // worse than that it is nowhere
	for _, d := range dirs {
		if name == "" || !filepath.IsAbs(d) {
			continue
		}
		err := executable(d + "/" + name)
		if err == nil {
			return filepath.Join(d, name), nil
		}
		if !errors.Is(err, errNotFound) {
			found = err
		}
	}
	if found != nil {
		return "", found
	}
	if len(dirs) > shownDirs { // messages stand in tables
		path = fmt.Sprintf("%s and %d more directories", strings.Join(dirs[:shownDirs], string(filepath.ListSeparator)), len(dirs)-shownDirs)
	}
	return "", fmt.Errorf("%w in PATH=%s", errNotFound, path)
}

// executable asks the system itself, because each command searches many directories for programs that most
// of them lack.
func executable(path string) error {
	var state unix.Stat_t
	err := unix.Stat(path, &state)
	for errors.Is(err, unix.EINTR) {
		err = unix.Stat(path, &state)
	}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return errNotFound
	case err != nil:
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	case state.Mode&unix.S_IFMT == unix.S_IFDIR:
		return fmt.Errorf("%w: %s is a directory", errNotFound, path)
	case state.Mode&0o111 == 0:
		return fmt.Errorf("%s is not executable", path)
	}
	return nil
}

// getenv returns the last value of name in env, which counts.
func getenv(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if value, found := strings.CutPrefix(env[i], name+"="); found {
			return value, true
		}
	}
	return "", false
}
