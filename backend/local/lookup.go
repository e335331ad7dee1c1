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

// errNotFound means that a program was not found.
var errNotFound = errors.New("program not found")

// shownDirs limits the directories of PATH that an error lists.
const shownDirs = 2

// lookPath finds a program: relative to dir if name contains a slash, otherwise in the directories of
// path. It skips relative directories, so that a workspace cannot inject a program.
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
	var found error // a better reason than "not found"
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
	if len(dirs) > shownDirs { // messages are shown in tables
		path = fmt.Sprintf("%s and %d more directories", strings.Join(dirs[:shownDirs], string(filepath.ListSeparator)), len(dirs)-shownDirs)
	}
	return "", fmt.Errorf("%w in PATH=%s", errNotFound, path)
}

// executable uses the system call directly, because each command searches many directories that mostly
// lack the program.
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

// getenv returns the last value of name in env, which is the effective one.
func getenv(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if value, found := strings.CutPrefix(env[i], name+"="); found {
			return value, true
		}
	}
	return "", false
}
