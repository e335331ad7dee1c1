package lsp

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
)

// maxEntries bounds the files of a directory that are offered.
const maxEntries = 1000

// files offers the entries of the directory in the text so far, without names that contain templates or do
// not fit in quotes.
func (c *completer) files() {
	written := c.cursor.Word
	if strings.ContainsAny(written, "$%\\") {
		return
	}
	dir, name := filepath.Split(filepath.FromSlash(written))
	from := dir
	if !filepath.IsAbs(dir) {
		from = filepath.Join(filepath.Dir(c.path), dir)
	}
	directory, err := os.Open(from)
	if err != nil {
		return
	}
	defer directory.Close()
	entries, _ := directory.ReadDir(maxEntries)
	c.cursor.Start += len(written) - len(name)
	for _, e := range entries {
		if strings.ContainsAny(e.Name(), "\"\\\n\r$%") || strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".") {
			continue
		}
		if info, err := os.Stat(filepath.Join(from, e.Name())); err == nil && info.IsDir() {
			c.add(completesFolder, e.Name()+"/", e.Name()+"/", "", "")
		} else {
			c.add(completesFile, e.Name(), e.Name(), "", "")
		}
	}
}

// writtenPath returns the file that the text at the position names, if the attribute is a path, or "".
func (p *place) writtenPath() string {
	written, ok := lang.TextAround(p.text, p.at)
	if !ok || written == "" {
		return ""
	}
	c := lang.CursorAt(p.text, p.at)
	row := p.of.s.language.At(c.Path)
	if row == nil || row.Attribute(c.Attribute) == nil || !row.Attribute(c.Attribute).Path && row.Name != "fevalgraph" {
		return ""
	}
	path := filepath.FromSlash(written)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.path), path)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// displayPath returns the name of a file for messages.
func (p *project) displayPath(path string) string {
	dir := p.options.ProjectDir()
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
