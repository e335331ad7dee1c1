package subpath_test

import (
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

func TestRel(t *testing.T) {
	for _, test := range []struct{ dir, path, rel string }{ // rel is "" if path is not below dir
		{"/a", "/a", "."},
		{"/a", "/a/b/c", "b/c"},
		{"/a/", "/a//b/", "b"},
		{"/", "/a", "a"},
		{"/a", "/a/..b/c", "..b/c"},
		{"/a", "/a/b/../c", "c"},
		{"/a", "/ab", ""},
		{"/a/b", "/a", ""},
		{"/a", "/a/../b", ""},
		{"/a", "/..", ""},
		{"/a", "a/b", ""},
		{"a", "/a/b", ""},
		{"", "a/b", "a/b"},
		{".", "../a", ""},
		{"a", "a/b", "b"},
	} {
		dir, path := filepath.FromSlash(test.dir), filepath.FromSlash(test.path)
		rel, ok := subpath.Rel(dir, path)
		if rel != test.rel || ok != (test.rel != "") || subpath.Contains(dir, path) != ok {
			t.Errorf("Rel(%q, %q) = %q, %v; want %q", test.dir, test.path, rel, ok, test.rel)
		}
	}
}
