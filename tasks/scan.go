package tasks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/cache"
)

// scanTree lists the tree below root in lexical order: regular files, symlinks, and empty directories,
// except ignored paths. Anything that cannot be reproduced exactly in a workspace is an error, and never
// omitted: unreadable files and directories, devices, sockets, FIFOs, names that are not UTF-8, and links
// that loop or lead out of root. Unless there are other errors, the error is an *unfit.
func scanTree(root string, ignore Ignore, observe observer) ([]file, error) {
	s := scan{observe: observe}
	err := s.walk(root, ignore, s.faithful)
	return s.found, err
}

// omission is an omitted entry.
type omission struct {
	path string // relative to the source, with slashes
	kind string // its kind, for users
}

// observer is Sources.Observe, which can be nil.
type observer func(kind, name string)

// scan is the state of a walk through a source.
type scan struct {
	observe observer
	limits  Limits
	root    string
	found   []file
	omitted []omission
}

// walk calls take for everything below root, except ignored paths. It continues after errors, so that the
// user sees more than the first.
func (s *scan) walk(root string, ignore Ignore, take func(abs, rel string, d fs.DirEntry) error) error {
	s.observe("exists", root)
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	s.root = root
	s.observe("dir", root)
	var errs []error
	met := 0
	err = filepath.WalkDir(root, func(abs string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(abs, root+string(filepath.Separator)))
		if err != nil {
			if abs != root {
				err = asUnfit(root, rel, err)
			}
			errs = append(errs, err)
			return nil
		}
		if abs == root {
			return nil
		}
		if ignore.leavesOut(rel, d.IsDir()) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if met++; s.limits.Entries > 0 && met > s.limits.Entries {
			return s.limits.tooMany(root)
		}
		if d.IsDir() {
			s.observe("dir", abs)
		}
		if !utf8.ValidString(rel) {
			err = unfitf(root, "the file name %q is not valid UTF-8; rename it or add it to ignore", rel)
		} else {
			err = asUnfit(root, rel, take(abs, rel, d))
		}
		if err != nil {
			errs = append(errs, err)
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	return joinUnfit(root, errs)
}

// faithful takes an entry unchanged.
func (s *scan) faithful(abs, rel string, d fs.DirEntry) error {
	f := file{Entry: cache.Entry{Path: rel}, abs: abs, rel: rel}
	switch mode := d.Type(); {
	case mode.IsDir():
		if !isEmpty(abs) {
			return nil
		}
		f.Dir = true
	case mode.IsRegular():
		info, err := d.Info()
		if err != nil {
			return err
		}
		f.Executable = info.Mode()&0o111 != 0
	case mode&fs.ModeSymlink != 0:
		target, err := safeLink(s.root, rel, s.observe)
		if err != nil {
			return err
		}
		f.Link = target
	default:
		return unfitf(s.root, "%s is a %s; only files, directories and links can be evaluated (ignore it?)", displayPath(rel), cache.TypeName(mode))
	}
	s.found = append(s.found, f)
	return nil
}

// plain takes an entry if it is a regular file, as not executable, and notes in omitted
// what else is there.
func (s *scan) plain(abs, rel string, d fs.DirEntry) error {
	switch mode := d.Type(); {
	case mode.IsRegular():
		s.found = append(s.found, file{Entry: cache.Entry{Path: rel}, abs: abs, rel: rel})
	case !mode.IsDir():
		s.omitted = append(s.omitted, omission{rel, cache.TypeName(mode)})
	case isEmpty(abs):
		s.omitted = append(s.omitted, omission{rel, "empty directory"})
	}
	return nil
}

// isEmpty reports whether a directory is empty. An unreadable directory is not; the walk reports what is
// wrong with it.
func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// scanFile returns the single regular file at abs, or the target of a link there, under the name rel.
func scanFile(abs, rel string, observe observer) ([]file, error) {
	observe("exists", abs)
	real, err := filepath.EvalSymlinks(abs) // what stores files follows no links
	if err != nil {
		return nil, namedLink(abs, err)
	}
	abs = real
	info, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, unfitf(abs, "not a regular file but a %s", cache.TypeName(info.Mode().Type()))
	}
	if !utf8.ValidString(rel) {
		return nil, unfitf(abs, "the file name %q is not valid UTF-8; rename it or add it to ignore", rel)
	}
	return []file{{Entry: cache.Entry{Path: rel, Executable: info.Mode()&0o111 != 0}, abs: abs}}, nil
}

// namedLink returns an error about following abs, with the link if it leads to nothing.
func namedLink(abs string, err error) error {
	target, readErr := os.Readlink(abs)
	if readErr != nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s in %s is a link to %s, which does not exist: %w", filepath.Base(abs), filepath.Dir(abs), displayPath(target), err)
}

func isRace(err error) bool {
	var changed *cache.ChangedError
	return errors.As(err, &changed)
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
