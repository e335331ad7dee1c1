package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// Scratch creates the directory below which workspaces are created, by default in the system's directory
// for temporary files, and returns its real path, so that all programs use the same names, whether they
// resolve symlinks or not. Another user could guess the name of dir and create it first in a shared
// directory. That is an error, since the owner controls what runs in it, and so is a directory above it
// that another user can rename.
func Scratch(dir string) (string, error) {
	if dir == "" {
		real, err := subpath.Real(os.TempDir())
		if err != nil {
			return "", err
		}
		return real, checkFixed(filepath.Join(real, "any"))
	}
	return makeOurs(dir, true)
}

// makeOurs creates a directory that other users can neither enter nor replace, or checks an existing one,
// and returns its real path. It follows a link of the caller if link is true.
func makeOurs(dir string, link bool) (string, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	parent, err := subpath.Real(filepath.Dir(dir))
	if err != nil {
		return "", err
	}
	dir = filepath.Join(parent, filepath.Base(dir))
	if err := checkFixed(dir); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return "", err
	case !isOwn(info):
		return "", fmt.Errorf("%s belongs to another user, who could change what runs there; ask the user to remove it, or set TMPDIR to another directory", dir)
	case info.Mode()&fs.ModeSymlink != 0 && link:
		target, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", err
		}
		return makeOurs(target, false)
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory; remove it, or set TMPDIR to another directory", dir)
	}
	return dir, restrict(dir)
}

// restrict closes a directory of the caller to other users. It changes the opened directory, even if that
// is renamed meanwhile.
func restrict(dir string) error {
	f, err := os.OpenFile(dir, openFlags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !isOwn(info):
		return fmt.Errorf("%s was replaced while it was opened", dir)
	case isOpen(info):
		return f.Chmod(0o700)
	}
	return nil
}

// checkFixed returns an error if another user, except root, can rename path or a directory above it. path must
// be a real path.
func checkFixed(path string) error {
	for path != filepath.Dir(path) {
		path = filepath.Dir(path)
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return err
		case !isOwn(info) && !systems(info):
			return fmt.Errorf("%s belongs to another user, who could replace what runs below it; set TMPDIR to your own directory", path)
		case movable(info):
			return fmt.Errorf("every user can replace what runs below %s; set its sticky bit (chmod +t), or set TMPDIR to another directory", path)
		}
	}
	return nil
}
