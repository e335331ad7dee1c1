package answer

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestFiles: each archive of testdata has an answer, existing files in before/, and the resulting files in after/,
// perhaps with a note, or the reason for having none. path is the file of unnamed code, main.py by default, and only
// that of a solution with one file.
func TestFiles(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) < 10 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var text, why, remark string
			path, only := "main.py", false
			var before []File
			after := map[string]string{}
			for _, f := range archive.Files {
				// Lines that would end a file of the archive have a bar as prefix.
				content := strings.ReplaceAll("\n"+string(f.Data), "\n|", "\n")[1:]
				switch {
				case f.Name == "answer":
					text = content
				case f.Name == "note":
					remark = strings.TrimSpace(content)
				case f.Name == "path", f.Name == "only":
					path, only = strings.TrimSpace(content), f.Name == "only"
				case f.Name == "reason":
					why = strings.TrimSpace(content)
				case strings.HasPrefix(f.Name, "before/"):
					before = append(before, File{f.Name[7:], content})
				case strings.HasPrefix(f.Name, "after/"):
					after[f.Name[6:]] = content
				default:
					t.Fatalf("what is %s?", f.Name)
				}
			}
			got, note, err := Files(text, path, before)
			if only {
				got, note, err = Only(text, path)
			}
			if note != remark {
				t.Errorf("note %q, want %q", note, remark)
			}
			if err != nil {
				if err.Error() != why {
					t.Fatalf("reason %q, want %q", err, why)
				}
				return
			}
			if why != "" {
				t.Fatalf("no reason, want %q: %q", why, got)
			}
			for _, f := range got {
				if want, ok := after[f.Path]; !ok || want != f.Content {
					t.Errorf("%s is %q, want %q", f.Path, f.Content, want)
				}
				delete(after, f.Path)
			}
			for name := range after {
				t.Errorf("there is no %s", name)
			}
		})
	}
}

// A single-file solution is the last block in its language, under any name.
func TestOnly(t *testing.T) {
	files, _, err := Only("```sh run.sh\nmake\n```\n```cpp ../main.cpp\nint main() {}\n```\n", "solution.cpp")
	if err != nil || len(files) != 1 || files[0] != (File{"solution.cpp", "int main() {}\n"}) {
		t.Errorf("%q, %v", files, err)
	}
	for _, none := range []string{"", "sorry", "```\n\n```", "```\nint"} {
		if files, _, err := Only(none, "solution.cpp"); err == nil {
			t.Errorf("%q: %q", none, files)
		}
	}
}

func TestCheckPath(t *testing.T) {
	for _, good := range []string{"a", "a.py", "a/b/c.py", ".env", "..a", "a..b/c", "nullable.py", "com.py", "con/x", "é.py"} {
		if err := CheckPath(good); (err == nil) != (good != "con/x") {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", ".", "..", "../a", "a/../../b", "a/..", "./a", "a//b", "a/", "/etc/passwd", `..\a`, `C:\a`, "C:a", "a:b", "a\x00b", "a\nb", "a\x1b[2Jb", "\xff",
		"nul", "NUL.txt", "aux.py", "a/con", "com1", "LPT9.py", "COM¹", "a. ", "a.", " a", "a/.git/hooks/post-checkout", ".GIT/config", "a|b", "a?", "a\u202eb",
		strings.Repeat("a/", 30) + "b", strings.Repeat("a", 300), strings.Repeat("abc/", 200) + "x",
	} {
		if err := CheckPath(bad); err == nil {
			t.Errorf("%q is taken", bad)
		} else if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == '\u202e' }) {
			t.Errorf("%q steers terminals", err)
		}
	}
}

// An answer is bounded, however large what it claims to be is.
func TestTooMuch(t *testing.T) {
	var many strings.Builder
	for i := range MaxFiles + 1 {
		fmt.Fprintf(&many, "```f%d.py\nx\n```\n", i)
	}
	for name, c := range map[string]struct {
		text, want string
	}{
		"files": {many.String(), "1001 files"},
		"bytes": {"```\n" + strings.Repeat("x", MaxBytes) + "\n```\n", "more than 16777216"},
	} {
		if _, _, err := Files(c.text, "main.py", nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Files of any answer stay where they belong and within bounds.
func FuzzFiles(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range cases {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Add("```../../x\n1\n```")
	f.Add("--- a/main.py\n+++ b/../main.py\n@@ -1 +1 @@\n-a\n+b\n")
	before := []File{{"main.py", "a\nb\nc\n"}, {"lib/x.py", "x"}}
	f.Fuzz(func(t *testing.T, text string) {
		files, _, err := Files(text, "main.py", before)
		if err != nil {
			if len(files) > 0 || err.Error() == "" || len(err.Error()) > 4*maxPath+200 {
				t.Fatalf("%q next to %v", err, files)
			}
			return
		}
		size := 0
		for i, file := range files {
			size += len(file.Content)
			switch {
			case !filepath.IsLocal(file.Path), path.Clean(file.Path) != file.Path, CheckPath(file.Path) != nil:
				t.Fatalf("%q", file.Path)
			case i > 0 && files[i-1].Path >= file.Path:
				t.Fatalf("%q is not after %q", file.Path, files[i-1].Path)
			}
		}
		if len(files) == 0 || len(files) > MaxFiles || size > MaxBytes {
			t.Fatalf("%d files, %d bytes", len(files), size)
		}
	})
}
