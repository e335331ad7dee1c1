package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errNotFound is why a program cannot be started.
var errNotFound = errors.New("program not found")

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
	found := fmt.Errorf("%w in PATH=%s", errNotFound, path)
	if name == "" {
		return "", found
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue
		}
		full := filepath.Join(d, name)
		err := executable(full)
		if err == nil {
			return full, nil
		}
		if !errors.Is(err, errNotFound) {
			found = err
		}
	}
	return "", found
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return errNotFound
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%w: %s is a directory", errNotFound, path)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable", path)
	}
	return nil
}

// getenv returns the last value of name in env, which is the one that counts.
func getenv(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if value, found := strings.CutPrefix(env[i], name+"="); found {
			return value, true
		}
	}
	return "", false
}
