package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// safeLink returns the target of the symlink rel below root if every step of following it stays within
// root. The target need not exist.
func safeLink(root, rel string, observe observer) (string, error) {
	abs := filepath.Join(root, filepath.FromSlash(rel))
	target, err := os.Readlink(abs)
	if err != nil {
		return "", err
	}
	target = filepath.ToSlash(target)
	if !utf8.ValidString(target) {
		return "", unfitf(root, "the target %q of symlink %s is not valid UTF-8", target, displayPath(rel))
	}
	switch err := follow(root, rel, observe); {
	case errors.Is(err, errLoop):
		return "", unfitf(root, "symlink %s is part of a loop", displayPath(rel))
	case errors.Is(err, errLeaves):
		return "", unfitf(root, "symlink %s points to %s, which leads out of the directory (ignore it?)", displayPath(rel), displayPath(target))
	case err != nil:
		return "", err
	}
	return target, nil
}

var (
	errLoop   = errors.New("too many levels of symlinks")
	errLeaves = errors.New("a symlink leads out of the directory")
)

// maxLinks limits the symlinks that a path can go through, as the kernel does on most systems.
const maxLinks = 40

// follow resolves rel below root as the kernel would.
func follow(root, rel string, observe observer) error {
	return resolve(rel, func(at string) (string, error) {
		here := filepath.Join(root, filepath.FromSlash(at))
		observe("link", here)
		target, err := os.Readlink(here)
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return "", nil // not a link, or missing
		}
		return filepath.ToSlash(target), err
	})
}

// LinksOut returns why a link of a tree's directory leads out of it, or "". links maps paths in the
// directory to targets.
func LinksOut(links map[string]string) string {
	for _, rel := range slices.Sorted(maps.Keys(links)) {
		if err := resolve(rel, func(at string) (string, error) { return links[at], nil }); err != nil {
			return fmt.Sprintf("symlink %s points to %s: %v", displayPath(rel), displayPath(links[rel]), err)
		}
	}
	return ""
}

// resolve follows a path one name at a time; readlink returns "" for a name that is not a link. The
// meaning of ".." depends on preceding links, so cleaning the path would be wrong: "up/../x" leaves the
// top if up is a link to the top itself.
func resolve(rel string, readlink func(at string) (string, error)) error {
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
		target, err := readlink(path.Join(at...))
		switch {
		case err != nil:
			return err
		case target == "":
			continue
		}
		if links++; links > maxLinks {
			return errLoop
		}
		if path.IsAbs(target) {
			return errLeaves
		}
		at = at[:len(at)-1]
		left = slices.Concat(strings.Split(target, "/"), left)
	}
	return nil
}
