package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzLoad loads arbitrary text next to a few real files: it must not panic or hang, findings must point into the text,
// and the same text must have the same result.
func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"testdata/diagnostics", "testdata/config"} {
		files, err := filepath.Glob(dir + "/*.txtar")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for _, part := range archive.Files {
				if part.Name == MainFile {
					f.Add(part.Data)
				}
			}
		}
	}
	f.Add([]byte("locals {\n  a = range(0, 5)\n}\n"))
	dir := f.TempDir()
	for _, name := range []string{"tests/test_a.py", "sub/main.py", "data/x.json"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 || strings.Contains(string(src), "/") { // stay inside of dir
			return
		}
		path := filepath.Join(dir, MainFile)
		if err := os.WriteFile(path, src, 0o666); err != nil {
			t.Fatal(err)
		}
		c, list := Load(Options{Inputs: Inputs{Dir: dir}, Extensions: *testExtensions()})
		for _, d := range list {
			if d.Code == "" || d.Summary == "" {
				t.Errorf("a finding without code or summary: %+v", d)
			}
			if d.Range != nil && d.Range.File == MainFile && d.Range.End.Byte > len(src) {
				t.Errorf("%+v is not in the text", d.Range)
			}
		}
		if list.HasErrors() {
			return
		}
		again, _ := Load(Options{Inputs: Inputs{Dir: dir}, Extensions: *testExtensions()})
		if configText(c, dir) != configText(again, dir) {
			t.Error("two loads differ")
		}
	})
}

// FuzzCursor: editors get an answer for every position in any text.
func FuzzCursor(f *testing.F) {
	f.Add([]byte("problem \"a\" {\n  b = [local.c, \"${d}\"]\n}\n"), 20)
	f.Add([]byte("a {\n \"\n <<E\n ${ \n"), 9)
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		if at < 0 || at > len(text) {
			return
		}
		c := CursorOver(text, at)
		if c.Start < 0 || c.Start > len(text) {
			t.Errorf("a word begins at %d of %d", c.Start, len(text))
		}
		if c := CursorAt(text, at); c.Start > at || at-c.Start != len(c.Word) {
			t.Errorf("the word %q is from %d to %d", c.Word, c.Start, at)
		}
		NamesAround(text, at)
		TextAround(text, at)
	})
}
