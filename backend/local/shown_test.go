//go:build unix

package local

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Finds paths of a configuration in arguments, lines and values, except paths of the system, of programs and of
// redirected output.
func TestShown(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "grade.py", "other/x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{
		Lifecycle:   Lifecycle{Scratch: t.TempDir()},
		Confinement: Confinement{Isolation: "none", Readable: []string{dir + "/models"}, ReadableNames: []string{"~/models"}, Unhashed: []string{dir + "/other"}},
	}
	open := New(nil, o)
	o.Isolation, o.Tried = "full", true
	isolated := New(nil, o)
	for _, test := range []struct {
		lines, values, want []string
		notIsolated         bool // want holds only without isolation
	}{
		{lines: []string{"python3", dir + "/grade.py"}, want: []string{dir + "/grade.py"}},
		{lines: []string{dir + "/a b"}, want: []string{dir + "/a b"}},
		{lines: []string{"--grader=" + dir + "/grade.py"}, want: []string{dir + "/grade.py"}},
		{lines: []string{"cat '" + dir + "/grade.py' >" + dir + "/out 2> " + dir + "/err; ls /usr /tmp"}, want: []string{dir + "/grade.py"}},
		{lines: []string{dir}, want: []string{dir}},
		{lines: []string{"cp -r " + dir + "/* ."}, want: []string{dir}, notIsolated: true},
		{lines: []string{"sh " + dir + "/$name/x"}, want: []string{dir}, notIsolated: true},
		{lines: []string{"/bin/sh", "curl http://host/path ${X}/y", dir + "/other/x", "/proc/self/exe"}},
		{values: []string{dir + "/grade.py:/usr/lib", "plain"}, want: []string{dir + "/grade.py"}},
		{values: []string{"/bin/sh"}, want: []string{"/bin/sh"}},
		{lines: []string{dir + "/absent"}, values: []string{dir + "/absent"}, want: []string{dir + "/absent"}},
	} {
		for _, b := range []*Backend{open, isolated} {
			var got []string
			for _, s := range b.shownFiles(test.lines, test.values) {
				got = append(got, s.Path)
			}
			want := []string{dir + "/models"}
			if b == open || !test.notIsolated {
				want = append(want, test.want...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q and %q: got %q, want %q", b.opt.Isolation, test.lines, test.values, got, want)
			}
		}
	}
}
