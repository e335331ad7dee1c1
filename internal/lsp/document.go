package lsp

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// document is a text that the client has open, or a file on disk. It is immutable: an edit creates a new
// one.
type document struct {
	uri     string // as the client writes it
	path    string // absolute; "" if it is not a file
	version int
	lines
}

func newDocument(uri string, version int, text []byte) *document {
	return &document{uri: uri, path: pathOf(uri), version: version, lines: newLines(text)}
}

// applyChange returns the document after a client's change of a range, or of the whole text.
func (d *document) applyChange(version int, change textChange) *document {
	text := []byte(change.Text)
	if change.Range != nil {
		start, end := d.offset(change.Range.Start), d.offset(change.Range.End)
		end = max(start, end)
		text = make([]byte, 0, len(d.text)+len(change.Text))
		text = append(append(append(text, d.text[:start]...), change.Text...), d.text[end:]...)
	}
	next := *d
	next.version, next.lines = version, newLines(text)
	return &next
}

// pathOf returns the path of a file URI, or "".
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" { // file:///c:/project
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// snapshot contains the texts at one moment.
type snapshot struct {
	open    map[string]*document // by URI
	version int                  // equal versions mean equal texts
	renewed int                  // as of server
	latest  context.Context      // ends when there are newer texts
	disk    map[string]*document // files that were read for this request, by path
}

// file returns the text of a file, from the client or from disk; empty if it is missing.
func (s *snapshot) file(path string) *document {
	for _, d := range s.open {
		if d.path == path {
			return d
		}
	}
	if d := s.disk[path]; d != nil {
		return d
	}
	d := &document{uri: uriOf(path), path: path, lines: newLines(readSmall(path))}
	s.disk[path] = d
	return d
}

// overlay returns the texts as an overlay for lang.
func (s *snapshot) overlay() func(path string) ([]byte, bool) {
	texts := make(map[string][]byte, len(s.open))
	for _, d := range s.open {
		if d.path != "" {
			texts[d.path] = d.text
		}
	}
	return func(path string) ([]byte, bool) {
		text, open := texts[path]
		return text, open
	}
}

// maxFile bounds the size of files that are read to find positions in them.
const maxFile = 4 << 20 // bytes

// readSmall reads a regular file of at most maxFile bytes.
func readSmall(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}
