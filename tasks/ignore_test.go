package tasks

import (
	"slices"
	"testing"
)

// laid is a submission for SlopCodeBench's patterns: "*" crosses "/", and some are anchored at the root.
var laid = []string{
	"main.py=", "main.pyc=", "pkg/mod.py=", "pkg/mod.pyc=", "pkg/__pycache__/mod.pyc=", "pkg/__pycache__/note.txt=",
	"venv/lib/x.py=", "sub/venv/x.py=", ".venv/x=", ".evaluation_tests/test_a.py=", "tests/test_own.py=", "tests/assets/deep/x=",
	"files/a=", "sub/files/a=", "data.json=", "sub/data.json=", ".git/HEAD=", "tests/assets.txt=",
}

func TestFnmatch(t *testing.T) {
	// The default ones, the implicit ones, and those of two assets: the directory files and the file data.json.
	patterns := []string{"*.pyc", "venv/*", ".venv/*", ".evaluation_tests/*", "tests/assets", "tests/assets/*", "files", "files/*", "data.json"}
	found, err := scanTree(lay(t, laid...), Fnmatch(patterns), unobserved)
	want := []string{".git/HEAD", "main.py", "pkg/__pycache__/note.txt", "pkg/mod.py", "sub/data.json", "sub/files/a", "sub/venv/x.py", "tests/assets.txt", "tests/test_own.py"}
	if err != nil || !slices.Equal(list(found), want) {
		t.Errorf("got %q, %v; want %q", list(found), err, want)
	}
}

func TestIgnore(t *testing.T) {
	const file, dir = false, true
	for _, try := range []struct {
		pattern             string
		rel                 string
		dir                 bool
		fnmatch, doublestar bool
	}{
		{"*.pyc", "a.pyc", file, true, true},
		{"*.pyc", "p/a.pyc", file, true, false},
		{"*.pyc", "p.pyc", dir, false, true}, // "p.pyc/" ends with a slash
		{"venv", "venv", dir, false, true},
		{"venv/", "venv", dir, true, false},
		{"venv/*", "venv", dir, true, false},
		{"venv/*", "venv", file, false, false},
		{"venv/*", "sub/venv", dir, false, false},
		{"*/venv/*", "sub/venv", dir, true, false},
		{"*/venv/*", "venv", dir, true, false}, // behind "./"
		{"**/*.log", "x.log", file, true, true},
		{"**/*.log", "a/b/x.log", file, true, true},
		{"./x", "x", file, true, false},
		{"x", "a/x", file, false, false},
		{"a?b", "a/b", file, true, false},
		{"[!a]", "b", file, true, true},
		{"[!a]*", "a", file, true, false}, // behind "./"
		{"[", "[", file, true, false},
		{"{a,b}", "a", file, false, true},
		{"X", "x", file, false, false},
		{"*", "d", dir, true, true},
		{"*", "d/x", file, true, false},
	} {
		patterns := []string{"none of them", try.pattern}
		if got := Fnmatch(patterns)(try.rel, try.dir); got != try.fnmatch {
			t.Errorf("fnmatch %q on %q (directory: %t) is %t", try.pattern, try.rel, try.dir, got)
		}
		if got := Doublestar(patterns)(try.rel, try.dir); got != try.doublestar {
			t.Errorf("doublestar %q on %q (directory: %t) is %t", try.pattern, try.rel, try.dir, got)
		}
	}
}

// TestDefaultIgnore: the default list of the language means the same in both
// syntaxes, so that naming one alone changes nothing.
func TestDefaultIgnore(t *testing.T) {
	patterns := []string{"**/__pycache__/**", "**/*.pyc", ".venv/**", "venv/**", ".git/**"}
	root := lay(t, laid...)
	want := []string{".evaluation_tests/test_a.py", "data.json", "files/a", "main.py", "pkg/mod.py", "sub/data.json", "sub/files/a", "sub/venv/x.py",
		"tests/assets/deep/x", "tests/assets.txt", "tests/test_own.py"}
	for name, ignore := range map[string]Ignore{"doublestar": Doublestar(patterns), "fnmatch": Fnmatch(patterns)} {
		if found, err := scanTree(root, ignore, unobserved); err != nil || !slices.Equal(list(found), want) {
			t.Errorf("%s: got %q, %v; want %q", name, list(found), err, want)
		}
	}
}
