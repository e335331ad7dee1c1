package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// MostInFile is the maximum size of a report in one file, in bytes.
const MostInFile = 8 << 20

// Written describes a written report.
type Written struct {
	File  string // file to open
	Data  string // directory of the remaining data; "" if all data is in File
	Bytes int64  // total size
}

// Write writes a page to path: to that file if it ends in .html, otherwise to index.html in that directory.
// What exceeds MostInFile goes into a directory next to the file, named like the file with "-data" instead of
// ".html", or "data" in a directory. Files of an earlier report are removed there.
func (p *Page) Write(path string) (*Written, error) {
	w := &writer{file: path, data: strings.TrimSuffix(path, ".html") + "-data"}
	if !strings.HasSuffix(path, ".html") {
		w.file, w.data = filepath.Join(path, "index.html"), filepath.Join(path, "data")
	}
	if err := w.write(p); err != nil {
		return nil, fmt.Errorf("writing a report: %w", err)
	}
	out := &Written{File: w.file, Bytes: w.bytes}
	if len(w.names) > 0 {
		out.Data = w.data
	}
	return out, nil
}

// writer keeps data until its size exceeds a file, and then writes scripts.
type writer struct {
	file, data string
	kept       []inline
	size       int      // size of kept
	names      []string // names of scripts
	bytes      int64    // size of all files
}

func (w *writer) write(p *Page) error {
	if err := os.MkdirAll(filepath.Dir(w.file), 0o755); err != nil {
		return err
	}
	x, err := p.index(w.put)
	if err != nil {
		return err
	}
	document, err := x.document(filepath.Base(w.data), w.kept)
	if err == nil && len(document) > MostInFile && len(w.kept) > 0 {
		if err = w.spill(); err == nil {
			document, err = x.document(filepath.Base(w.data), nil)
		}
	}
	if err != nil {
		return err
	}
	w.bytes += int64(len(document))
	if err := atomicfile.Write(w.file, 0o644, []byte(document)); err != nil {
		return err
	}
	return w.clean()
}

func (w *writer) put(id, data string) error {
	if len(w.names) > 0 {
		return w.script(id, data)
	}
	w.kept = append(w.kept, inline{id, data})
	if w.size += len(data); w.size > MostInFile {
		return w.spill()
	}
	return nil
}

// CheckDirectory returns an error if a directory with a default name is a link: a cloned project
// can contain a link that leads anywhere.
func CheckDirectory(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link (hint: remove it, or choose the output with -o)", path)
	}
	return nil
}

// spill writes the kept data as scripts.
func (w *writer) spill() error {
	err := CheckDirectory(w.data)
	if err == nil {
		err = os.MkdirAll(w.data, 0o755)
	}
	if err != nil {
		return err
	}
	for _, k := range w.kept {
		if err := w.script(k.id, k.data); err != nil {
			return err
		}
	}
	w.kept = nil
	return nil
}

const scriptSuffix = ".js"

func scriptOf(id, data string) string { return `fevalgraph("` + id + `","` + data + `")` + "\n" }

// script writes data as a script, which a page can load from disk.
func (w *writer) script(id, data string) error {
	content := []byte(scriptOf(id, data))
	w.names, w.bytes = append(w.names, id+scriptSuffix), w.bytes+int64(len(content))
	return atomicfile.Write(filepath.Join(w.data, id+scriptSuffix), 0o644, content)
}

// clean removes the scripts of an earlier report from the data directory, and the directory if it is empty
// then. It leaves a link alone.
func (w *writer) clean() error {
	if CheckDirectory(w.data) != nil {
		return nil
	}
	entries, err := os.ReadDir(w.data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		id, isScript := strings.CutSuffix(e.Name(), scriptSuffix)
		if isScript && isDigest(id) && !slices.Contains(w.names, e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(w.data, e.Name())))
		}
	}
	if err == nil && len(w.names) == 0 {
		os.Remove(w.data)
	}
	return err
}

func isDigest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }
