package funcs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// Files specifies which files the file functions read.
type Files struct {
	Dir string // absolute; base of relative paths
	// Read, if set, is called before a function reads: with kind "file" or "exists" and an absolute path, or
	// "fileset" with an absolute directory, "\x00" and a pattern.
	Read func(kind, name string)
	// Overlay, if set, returns the text of a file that an editor has open, by its absolute path.
	Overlay func(path string) (text []byte, open bool)
	// Allowed, if set, reports whether a function can read an absolute path.
	Allowed func(path string) bool
	// Moved, if set, returns where an absolute path is read.
	Moved func(path string) string
}

// OutsideError means that a function is not permitted to read a path.
type OutsideError struct {
	Path string // literal path
}

func (e *OutsideError) Error() string { return fmt.Sprintf("%q is outside of the project", e.Path) }

// place returns the absolute path of a written one, if a function can read it.
func (f Files) place(written string) (string, error) {
	name := f.Resolve(written)
	if f.Allowed != nil && !f.Allowed(name) {
		return "", &OutsideError{written}
	}
	return name, nil
}

func (f Files) functions() map[string]function.Function {
	return map[string]function.Function{
		"file":       f.file(),
		"fileexists": f.exists(),
		"fileset":    f.search("Sorted slash-separated paths, relative to dir, of the files below it that match a pattern.", Glob),
		"dirs":       f.search("Sorted slash-separated paths, relative to dir, of the directories below it that match a pattern.", globDirs),
	}
}

func (f Files) file() function.Function {
	return function.New(&function.Spec{
		Description: "Text of a UTF-8 file.",
		Params:      []function.Parameter{{Name: "path", Type: cty.String}},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, err := f.ReadFile(args[0].AsString())
			if outside := (*OutsideError)(nil); err != nil && !errors.As(err, &outside) {
				err = function.NewArgError(0, err)
			}
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			return cty.StringVal(text), nil
		},
	})
}

// ReadFile returns the text of a file, like the function file. An error wraps fs.ErrNotExist if the file is
// missing, and is an *OutsideError if reading it is not permitted.
func (f Files) ReadFile(written string) (string, error) {
	text, err := f.bytes(written)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(text) {
		return "", fmt.Errorf("%q is not UTF-8 text", written)
	}
	return string(text), nil
}

// bytes returns the content of a file, from the editor or from disk.
func (f Files) bytes(written string) ([]byte, error) {
	if f.Overlay != nil {
		name, err := f.place(written)
		if err != nil {
			return nil, err
		}
		if text, open := f.Overlay(name); open {
			f.read("file", name)
			return text, nil
		}
	}
	file, err := f.Open(written)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, reason(written, err)
	}
	return text, nil
}

// Open opens a file under the same rules.
func (f Files) Open(written string) (*os.File, error) {
	name, err := f.place(written)
	if err != nil {
		return nil, err
	}
	f.read("file", name)
	// A pipe would block until it has a writer, and can be read only once.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("%q is not a regular file", written)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, reason(written, err)
	}
	return file, nil
}

func (f Files) exists() function.Function {
	return function.New(&function.Spec{
		Description: "Whether a regular file exists.",
		Params:      []function.Parameter{{Name: "path", Type: cty.String}},
		Type:        function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name, err := f.place(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.Bool), err
			}
			f.read("exists", name)
			info, err := os.Stat(name)
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
				return cty.False, nil
			case err != nil: // unknown is not the same as missing
				return cty.UnknownVal(cty.Bool), function.NewArgError(0, reason(args[0].AsString(), err))
			}
			return cty.BoolVal(info.Mode().IsRegular()), nil
		},
	})
}

// search returns a function that lists the matches of glob.
func (f Files) search(description string, glob func(dir, written, pattern string) ([]string, error)) function.Function {
	return function.New(&function.Spec{
		Description: description,
		Params: []function.Parameter{
			{Name: "dir", Type: cty.String},
			{Name: "pattern", Type: cty.String},
		},
		Type: function.StaticReturnType(cty.List(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := cty.UnknownVal(cty.List(cty.String))
			pattern := args[1].AsString()
			dir, err := f.searchRoot(args[0].AsString(), pattern)
			if outside := (*OutsideError)(nil); errors.As(err, &outside) {
				return unknown, err
			} else if err != nil {
				return unknown, function.NewArgError(0, err)
			}
			names, err := glob(dir, args[0].AsString(), pattern)
			if err != nil {
				return unknown, function.NewArgError(1, err)
			}
			if len(names) == 0 {
				return cty.ListValEmpty(cty.String), nil
			}
			values := make([]cty.Value, len(names))
			for i, name := range names {
				values[i] = cty.StringVal(name)
				if values[i].AsString() != name { // the language normalises text; the disk does not
					return unknown, function.NewArgErrorf(1, "the file name %+q is not in Unicode normal form C", name)
				}
			}
			return cty.ListVal(values), nil
		},
	})
}

// Glob returns the same paths as the function fileset.
func (f Files) Glob(written, pattern string) ([]string, error) {
	dir, err := f.searchRoot(written, pattern)
	if err != nil {
		return nil, err
	}
	return Glob(dir, written, pattern)
}

// searchRoot returns the directory to search for a pattern.
func (f Files) searchRoot(written, pattern string) (string, error) {
	dir, err := f.place(written)
	if err != nil {
		return "", err
	}
	// A search follows only links that a pattern names before its first star.
	if named, _ := doublestar.SplitPattern(pattern); f.Allowed != nil && filepath.IsLocal(named) && !f.Allowed(filepath.Join(dir, named)) {
		return "", &OutsideError{pattern}
	}
	f.read("fileset", dir+"\x00"+pattern)
	if info, err := os.Stat(dir); err != nil {
		return "", reason(written, err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("%q is not a directory", written)
	}
	return dir, nil
}

// Glob returns the sorted slash-separated paths, relative to dir, of the regular files that match a
// doublestar pattern, see subpath.Glob. Errors name the directory as it is written in the configuration. Symbolic links to files match; links to directories are neither matched nor entered,
// so link loops are harmless. Names that are not UTF-8, dangling links and unreadable directories are
// errors: the result is never silently incomplete.
func Glob(dir, written, pattern string) ([]string, error) {
	return glob(dir, written, pattern, func(path string) (bool, error) {
		info, err := os.Stat(path)
		return err == nil && !info.IsDir(), err
	}, doublestar.WithFilesOnly())
}

// globDirs does the same for directories, except links to directories and dir itself.
func globDirs(dir, written, pattern string) ([]string, error) {
	names, err := glob(dir, written, pattern, func(path string) (bool, error) {
		info, err := os.Lstat(path)
		return err == nil && info.IsDir(), err
	})
	return slices.DeleteFunc(names, func(name string) bool { return name == "." }), err
}

// glob returns the relevant matches of a pattern.
func glob(dir, written, pattern string, matters func(path string) (bool, error), more ...doublestar.GlobOption) ([]string, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%q is not a valid pattern", pattern)
	}
	if filepath.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), "..") {
		return nil, fmt.Errorf("the pattern %q must stay below the directory: no leading \"/\" and no \"..\"", pattern)
	}
	matches, err := subpath.Glob(os.DirFS(dir), pattern, more...)
	if err != nil {
		var failed *fs.PathError
		if errors.As(err, &failed) && !utf8.ValidString(failed.Path) {
			return nil, fmt.Errorf("the file name %q is not UTF-8", failed.Path)
		}
		return nil, fmt.Errorf("searching %q: %w", pattern, err)
	}
	names := matches[:0]
	for _, name := range matches {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("the file name %q is not UTF-8", name)
		}
		switch ok, err := matters(filepath.Join(dir, name)); {
		case errors.Is(err, fs.ErrNotExist):
			target, _ := os.Readlink(filepath.Join(dir, name))
			return nil, fmt.Errorf("%q in %q is a link to %q, which does not exist", name, written, target)
		case err != nil:
			return nil, reason(name, err)
		case ok:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Resolve returns the absolute path of a name.
func (f Files) Resolve(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(f.Dir, name)
	}
	name = filepath.Clean(name)
	if f.Moved != nil {
		name = f.Moved(name)
	}
	return name
}

func (f Files) read(kind, name string) {
	if f.Read != nil {
		f.Read(kind, name)
	}
}

// missingError wraps fs.ErrNotExist with a message for authors of configurations.
type missingError struct{ written string }

func (e *missingError) Error() string        { return fmt.Sprintf("%q not found", e.written) }
func (e *missingError) Is(target error) bool { return target == fs.ErrNotExist }

// reason describes an error about a path as written in the configuration.
func reason(written string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &missingError{written}
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%q is in a loop of symbolic links", written)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%q is not readable", written)
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%q: %w", written, err)
}
