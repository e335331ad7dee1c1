package tasks

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// safeLink returns the target of the symlink rel below root when following it
// stays within root at every step. A target that does not exist is fine.
func safeLink(root, rel string, observe observer) (string, error) {
	abs := filepath.Join(root, filepath.FromSlash(rel))
	target, err := os.Readlink(abs)
	if err != nil {
		return "", err
	}
	target = filepath.ToSlash(target)
	if !utf8.ValidString(target) {
		return "", unfitf(root, "the target %q of symlink %s is not valid UTF-8", target, shown(rel))
	}
	switch err := follow(root, rel, observe); {
	case errors.Is(err, errLoop):
		return "", unfitf(root, "symlink %s is part of a loop", shown(rel))
	case errors.Is(err, errLeaves):
		return "", unfitf(root, "symlink %s points to %s, which leads out of the directory (ignore it?)", shown(rel), shown(target))
	case err != nil:
		return "", err
	}
	return target, nil
}

var (
	errLoop   = errors.New("too many levels of symlinks")
	errLeaves = errors.New("a symlink leads out of the directory")
)

// maxLinks is how many symlinks one path may go through, the kernel's limit on
// most systems.
const maxLinks = 40

// follow resolves rel below root as the kernel would, one name at a time. What
// ".." means depends on where links have led before, so cleaning the path
// would not do: "up/../x" leaves root when up is a link to root itself.
func follow(root, rel string, observe observer) error {
	var at []string
	left := strings.Split(rel, "/")
	for links := 0; len(left) > 0; {
		name := left[0]
		left = left[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return errLeaves
			}
			at = at[:len(at)-1]
			continue
		}
		at = append(at, name)
		here := filepath.Join(root, filepath.Join(at...))
		observe("link", here)
		target, err := os.Readlink(here)
		switch {
		case err != nil && !errors.Is(err, fs.ErrPermission):
			continue // no link; what is not there leads nowhere
		case err != nil:
			return err
		}
		if links++; links > maxLinks {
			return errLoop
		}
		if target = filepath.ToSlash(target); path.IsAbs(target) {
			return errLeaves
		}
		at = at[:len(at)-1]
		left = slices.Concat(strings.Split(target, "/"), left)
	}
	return nil
}
