package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLineDiff(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"a line":          {"a\nb\nc\n", "a\nx\nc\n", "line 2: `b` -> `x`"},
		"more lines":      {"a\nb\nc\nd\n", "a\nx\nd\n", "line 2: `b` -> `x` (and 1 more)"},
		"added":           {"a\nc\n", "a\nb\nc\n", "line 2: + `b`"},
		"removed":         {"a\nb\nb\nc\n", "a\nc\n", "line 2: - `b` (and 1 more)"},
		"white space":     {"a \n", "a\n", "line 1: `a ` -> `a`"},
		"indentation":     {"  a\n", "    a\n", "line 1: `  a` -> `    a`"},
		"a long line":     {strings.Repeat("a", 100) + "\n", "b\n", "line 1: `" + strings.Repeat("a", 59) + "…` -> `b`"},
		"no text":         {"\x00\n", "b\n", ""},
		"no UTF-8":        {"\xff\n", "b\n", ""},
		"too large":       {strings.Repeat("a\n", maxText), "b\n", ""},
		"the same":        {"a\n", "a\n", ""},
		"no last newline": {"a\nb", "a\nb\n", "line 3: + ``"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			old, new := filepath.Join(root, "old"), filepath.Join(root, "new")
			for path, text := range map[string]string{old: c.old, new: c.new} {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := LineDiff(root, old, root, new); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestLinksAreNotFollowed tests that no text of another directory is shown, even if problems contain links to it.
func TestLinksAreNotFollowed(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	secret, link, file := filepath.Join(other, "secret"), filepath.Join(root, "link"), filepath.Join(root, "file")
	for path, text := range map[string]string{secret: "secret\n", file: "text\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	if got := LineDiff(root, file, root, link); got != "" {
		t.Errorf("it shows %s", got)
	}
	if got := LineDiff(other, file, other, secret); got != "" {
		t.Errorf("it shows %s", got)
	}
}
