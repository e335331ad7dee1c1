package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzLoad loads arbitrary text beside a few real files: nothing may panic or
// hang, findings must point into the text, and the same text must give the
// same answer.
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
				if part.Name == mainFile {
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
		path := filepath.Join(dir, mainFile)
		if err := os.WriteFile(path, src, 0o666); err != nil {
			t.Fatal(err)
		}
		c, list := Load(Options{Dir: dir})
		for _, d := range list {
			if d.Code == "" || d.Summary == "" {
				t.Errorf("a finding without code or summary: %+v", d)
			}
			if d.Range != nil && d.Range.File == mainFile && d.Range.End.Byte > len(src) {
				t.Errorf("%+v is not in the text", d.Range)
			}
		}
		if list.HasErrors() {
			return
		}
		again, _ := Load(Options{Dir: dir})
		if configText(c, dir) != configText(again, dir) {
			t.Error("two loads differ")
		}
	})
}
