package lsp

import (
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
)

func TestDefinitionOf(t *testing.T) {
	python := "import x\n\nasync def test_a(x):\n    pass\n\nclass TestB:\n    def test_c(self):\n        pass\n\nclass TestD:\n    def test_c(self): pass\n"
	l := newLines([]byte(python))
	for id, want := range map[string]Range{
		"test_a":                {Position{2, 10}, Position{2, 16}},
		"test_a[x::y]":          {Position{2, 10}, Position{2, 16}},
		"TestB::test_c[1]":      {Position{6, 8}, Position{6, 14}},
		"TestD::test_c":         {Position{10, 8}, Position{10, 14}},
		"test_":                 {Position{0, 0}, Position{0, 8}},
		"TestGone::test_c":      {Position{0, 0}, Position{0, 8}},
		"":                      {Position{0, 0}, Position{0, 8}},
		"../../etc/passwd::[[[": {Position{0, 0}, Position{0, 8}},
	} {
		if got := l.between(definitionOf([]byte(python), id)); got != want {
			t.Errorf("%q is at %+v, want %+v", id, got, want)
		}
	}
}

// Paths in a report stay below the directory of the tests.
func TestTestFile(t *testing.T) {
	of := &lang.Pytest{Root: filepath.FromSlash("/p/tests"), Directory: "tests"}
	for name, want := range map[string]string{
		"tests/test_a.py": "/p/tests/test_a.py", "tests/sub/test_b.py": "/p/tests/sub/test_b.py", "../../etc/passwd": "/p/tests/etc/passwd", "/etc/passwd": "/p/tests/etc/passwd",
	} {
		if got := testFile(of, name); got != filepath.FromSlash(want) {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
