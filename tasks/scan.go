package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/cache"
)

// scanTree lists what is below root in lexical order: regular files, symlinks
// as links, and directories that hold nothing. What ignore names is left out.
// Anything that cannot be carried faithfully into a workspace is an error,
// never left out: unreadable files and directories, devices, sockets, FIFOs,
// names that are not UTF-8, and links that loop or lead out of root.
func scanTree(root string, ignore Ignore) ([]file, error) {
	var found []file
	var errs []error
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(abs string, d fs.DirEntry, err error) error {
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		if abs == root {
			return nil
		}
		rel := filepath.ToSlash(strings.TrimPrefix(abs, root+string(filepath.Separator)))
		if ignore.leavesOut(rel, d.IsDir()) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		f, keep, err := scanEntry(root, abs, rel, d)
		if err != nil {
			errs = append(errs, err)
		} else if keep {
			found = append(found, f)
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	return found, joinSome(errs)
}

func scanEntry(root, abs, rel string, d fs.DirEntry) (f file, keep bool, err error) {
	if !utf8.ValidString(rel) {
		return file{}, false, fmt.Errorf("the file name %q in %s is not valid UTF-8; rename it or add it to ignore", rel, root)
	}
	f = file{Entry: cache.Entry{Path: rel}, abs: abs}
	switch mode := d.Type(); {
	case mode.IsDir():
		entries, err := os.ReadDir(abs)
		if err != nil {
			return file{}, false, nil // WalkDir reports it
		}
		f.Dir = true
		return f, len(entries) == 0, nil
	case mode.IsRegular():
		info, err := d.Info()
		if err != nil {
			return file{}, false, err
		}
		f.Executable = info.Mode()&0o111 != 0
		return f, true, nil
	case mode&fs.ModeSymlink != 0:
		f.Link, err = safeLink(root, rel)
		return f, err == nil, err
	default:
		return file{}, false, fmt.Errorf("%s is a %s; only files, directories and links can be evaluated (ignore it?)", abs, kindOf(mode))
	}
}

// scanFile is the single regular file at abs, or that a link there leads to,
// under the name rel.
func scanFile(abs, rel string) ([]file, error) {
	abs, err := filepath.EvalSymlinks(abs) // what stores files follows no links
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a %s, not a regular file", abs, kindOf(info.Mode().Type()))
	}
	if !utf8.ValidString(rel) {
		return nil, fmt.Errorf("the file name %q is not valid UTF-8; rename it or add it to ignore", rel)
	}
	return []file{{Entry: cache.Entry{Path: rel, Executable: info.Mode()&0o111 != 0}, abs: abs}}, nil
}

func isRace(err error) bool {
	var changed *cache.ChangedError
	return errors.As(err, &changed)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	case mode.IsDir():
		return "directory"
	}
	return "special file"
}

// joinSome joins errors, but no more than a person reads.
func joinSome(errs []error) error {
	const shown = 5
	if len(errs) > shown {
		more := len(errs) - shown
		errs = append(errs[:shown:shown], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}
