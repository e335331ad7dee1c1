package lang

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// Directories are the names of the directories in a directory, but for those behind links.
func (f *ReaderFiles) Directories(dir string) (names []string, err error) {
	entries, err := f.list(dir)
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// FS is a directory with all that is below it.
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

// Open implements fs.FS.
func (r readerFS) Open(name string) (fs.File, error) {
	file, err := r.files.Open(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	return file, nil
}

// ReadDir implements fs.ReadDirFS.
func (r readerFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return r.files.list(filepath.Join(r.dir, filepath.FromSlash(name)))
}
