package tasks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestContextScan(t *testing.T) {
	for _, try := range []struct {
		name    string
		ignore  string // "" is no .dockerignore
		files   string
		want    string
		problem string
	}{
		{"everything", "", "Dockerfile a sub/b empty/", "Dockerfile a empty/ sub/b", ""},
		{"by name, at the top only", "a\n# comment\n\nsub/c\n", "a x/a sub/b sub/c", ".dockerignore sub/b x/a", ""},
		{"by pattern, at any depth", "**/*.log\n", "a.log x/y/b.log x/y/c", ".dockerignore x/y/c", ""},
		{"one star stays in a name", "*/*.log\n", "a.log x/b.log x/y/c.log", ".dockerignore a.log x/y/c.log", ""},
		{"a directory with all in it", "x\n", "x/y/z x/w a", ".dockerignore a", ""},
		{"taken back", "x\n!x/keep\n", "x/keep x/drop x/y/drop x/empty/ a", ".dockerignore a x/keep", ""},
		{"taken back further below", "x\n!x/y/keep\n", "x/y/keep x/y/drop x/drop", ".dockerignore x/y/keep", ""},
		{"taken back by pattern", "*\n!**/*.py\n", "a.py x/b.py x/c.txt", "a.py x/b.py", ""},
		{"taken back and not", "x\n!x/*\nx/drop\n", "x/keep x/drop", ".dockerignore x/keep", ""},
		{"itself and the Dockerfile", "Dockerfile\n.dockerignore\n", "Dockerfile a", "a", ""},
		{"with a slash, with dots", "/a\n./x/../b\n", "a b c", ".dockerignore c", ""},
		{"an invalid pattern", "[\n", "a", "", "syntax error in pattern"},
	} {
		root := t.TempDir()
		write := func(name, text string) {
			t.Helper()
			path := filepath.Join(root, name)
			dir := filepath.Dir(path)
			if strings.HasSuffix(name, "/") {
				dir = path
			}
			err := os.MkdirAll(dir, 0o755)
			if err == nil && !strings.HasSuffix(name, "/") {
				err = os.WriteFile(path, []byte(text), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range strings.Fields(try.files) {
			write(name, name)
		}
		if try.ignore != "" {
			write(dockerignore, try.ignore)
		}
		found, err := NewContext(root, Sources{}).scan()
		var got []string
		for _, f := range found {
			if f.Dir {
				f.Path += "/"
			}
			got = append(got, f.Path)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != try.want || (err == nil) != (try.problem == "") || err != nil && !strings.Contains(err.Error(), try.problem) {
			t.Errorf("%s: %q, %v, want %q", try.name, got, err, try.want)
		}
	}
}

// Files that no tree can contain can be ignored.
func TestContextLeavesOutWhatItCannotHold(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	scan := NewContext(root, Sources{}).scan
	if _, err := scan(); err == nil || !strings.Contains(err.Error(), "reading the context of the build") {
		t.Errorf("a link that leads out: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, dockerignore), []byte("out"), 0o644); err != nil {
		t.Fatal(err)
	}
	if found, err := scan(); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
