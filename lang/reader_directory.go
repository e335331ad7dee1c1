package lang

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// Directories returns the names of the directories in a directory, without symbolic links.
func (f *ReaderFiles) Directories(dir string) (names []string, err error) {
	entries, err := f.list(dir)
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// FS returns a directory as a file system.
func (f *ReaderFiles) FS(dir string) fs.FS { return readerFS{f, dir} }

func (f *ReaderFiles) list(dir string) ([]fs.DirEntry, error) {
	if !f.l.within(dir) {
		return nil, &funcs.OutsideError{Path: f.l.show(dir)}
	}
	f.l.input("fileset", dir+"\x00*")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, errors.New(pathReason(f.l.show(dir), err))
	}
	return entries, nil
}

type readerFS struct {
	files *ReaderFiles
	dir   string
}

func (r readerFS) place(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return filepath.Join(r.dir, filepath.FromSlash(name)), nil
}

// Open implements fs.FS.
func (r readerFS) Open(name string) (fs.File, error) {
	path, err := r.place("open", name)
	if err != nil {
		return nil, err
	}
	file, err := r.files.Open(path)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// ReadDir implements fs.ReadDirFS.
func (r readerFS) ReadDir(name string) ([]fs.DirEntry, error) {
	path, err := r.place("readdir", name)
	if err != nil {
		return nil, err
	}
	return r.files.list(path)
}
