package backendtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// TestFiles runs the part of the suite that needs no programs: inputs,
// Collect and Close.
func TestFiles(t *testing.T, open func(t *testing.T) (backend.Backend, cache.Store)) {
	t.Run("Inputs", func(t *testing.T) { testInputs(t, open) })
	t.Run("OutsideUntouched", func(t *testing.T) { testOutside(t, open) })
	t.Run("BadInputs", func(t *testing.T) { testBadInputs(t, open) })
	t.Run("Collect", func(t *testing.T) { testCollect(t, open) })
	t.Run("Close", func(t *testing.T) { testClose(t, open) })
}

// input is a backend.Input whose tree is not stored yet.
type input struct {
	path    string
	tree    []node
	content string // used when tree is nil
	replace bool
}

// absent is the wanted content of a file that must not be there.
const absent = "\x00absent"

func testInputs(t *testing.T, open Opener) {
	for _, test := range []struct {
		name   string
		inputs []input
		want   map[string]string // path -> content or absent
	}{
		{
			name:   "names of every kind",
			inputs: []input{{tree: []node{{Path: "größe/日本 語.txt", Content: "1"}, {Path: "a\nb", Content: "2"}, {Path: "-rf", Content: "3"}, {Path: "e\u0301", Content: "4"}, {Path: "\u00e9", Content: "5"}}}},
			want:   map[string]string{"größe/日本 語.txt": "1", "a\nb": "2", "-rf": "3", "e\u0301": "4", "\u00e9": "5"},
		}, {
			name:   "empty files and files beside directories",
			inputs: []input{{path: "x", tree: []node{{Path: "f"}}}, {path: "x/g"}, {path: "./y/../z", content: "z"}},
			want:   map[string]string{"x/f": "", "x/g": "", "z": "z"},
		}, {
			name: "later ones win, the rest stays",
			inputs: []input{
				{tree: []node{{Path: "d/a", Content: "old"}, {Path: "d/b", Content: "kept"}}},
				{path: "d", tree: []node{{Path: "a", Content: "new"}}},
			},
			want: map[string]string{"d/a": "new", "d/b": "kept"},
		}, {
			name: "replace leaves nothing of a directory",
			inputs: []input{
				{tree: []node{{Path: "d/a", Content: "old"}, {Path: "d/sub/b", Content: "old"}, {Path: "e", Content: "kept"}}},
				{path: "d", tree: []node{{Path: "c", Content: "new"}}, replace: true},
			},
			want: map[string]string{"d/a": absent, "d/sub/b": absent, "d/c": "new", "e": "kept"},
		}, {
			name: "replace of the whole workspace",
			inputs: []input{
				{tree: []node{{Path: "a", Content: "old"}}},
				{tree: []node{{Path: "b", Content: "new"}}, replace: true},
			},
			want: map[string]string{"a": absent, "b": "new"},
		}, {
			name: "replace of a file and of a symlink by a tree",
			inputs: []input{
				{tree: []node{{Path: "f", Content: "old"}, {Path: "l", Link: "f"}, {Path: "g", Content: "kept"}, {Path: "m", Link: "g"}}},
				{path: "f", tree: []node{{Path: "x", Content: "1"}}, replace: true},
				{path: "l", tree: []node{{Path: "x", Content: "2"}}, replace: true},
				{path: "m", content: "3", replace: true},
			},
			want: map[string]string{"f/x": "1", "l/x": "2", "g": "kept", "m": "3"},
		}, {
			name: "without replace, too, links and files give way",
			inputs: []input{
				{tree: []node{{Path: "d/x", Content: "kept"}, {Path: "l", Link: "d"}, {Path: "f", Content: "old"}, {Path: "e/x", Content: "old"}}},
				{path: "l", tree: []node{{Path: "x", Content: "1"}}},
				{path: "f", tree: []node{{Path: "x", Content: "2"}}},
				{path: "e", content: "3"},
			},
			want: map[string]string{"d/x": "kept", "l/x": "1", "f/x": "2", "e": "3"},
		}, {
			name: "parents that are links or files become directories",
			inputs: []input{
				{tree: []node{{Path: "d/x", Content: "kept"}, {Path: "l", Link: "d"}, {Path: "f", Content: "old"}, {Path: "dangling", Link: "nowhere"}}},
				{path: "l/x", content: "1"},
				{path: "f/deep/er", content: "2"},
				{path: "dangling/t", tree: []node{{Path: "x", Content: "3"}}},
			},
			want: map[string]string{"d/x": "kept", "l/x": "1", "f/deep/er": "2", "dangling/t/x": "3"},
		}, {
			name: "a tree over links inside another",
			inputs: []input{
				{tree: []node{{Path: "d/x", Content: "kept"}, {Path: "t/sub", Link: "../d"}, {Path: "t/y", Link: "../d/x"}}},
				{tree: []node{{Path: "t/sub/x", Content: "1"}, {Path: "t/y", Content: "2"}}},
			},
			want: map[string]string{"d/x": "kept", "t/sub/x": "1", "t/y": "2"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, store := open(t)
			inputs := resolve(t, store, test.inputs)
			s := session(t, b, inputs[0])
			if err := s.Place(t.Context(), inputs[1:]...); err != nil {
				t.Fatal(err)
			}
			wantFiles(t, s, test.want)
			wantFiles(t, session(t, b, inputs...), test.want)
		})
	}
}

// wantFiles checks files of the workspace: path -> content or absent.
func wantFiles(t *testing.T, s backend.Session, files map[string]string) {
	t.Helper()
	for path, want := range files {
		got, err := collect(t, s, path)
		switch {
		case want == absent && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("%q: got %q, %v; want it absent", path, got, err)
		case want != absent && (err != nil || got != want):
			t.Errorf("%q: got %q, %v; want %q", path, got, err, want)
		}
	}
}

func resolve(t *testing.T, store cache.Store, inputs []input) []backend.Input {
	t.Helper()
	var out []backend.Input
	for _, in := range inputs {
		resolved := backend.Input{Path: in.path, Replace: in.replace}
		if in.tree != nil {
			resolved.Tree = putTree(t, store, in.tree...)
		} else {
			resolved.Content = []byte(in.content)
		}
		out = append(out, resolved)
	}
	return out
}

// A submission ships symlinks to the host's files under the names that inputs
// after it use.
func testOutside(t *testing.T, open Opener) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("untouched"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		node node
		over input
	}{
		{"file over link", node{Path: "l", Link: victim}, input{path: "l", content: "evil"}},
		{"file below link", node{Path: "l", Link: outside}, input{path: "l/victim", content: "evil"}},
		{"file deep below link", node{Path: "l", Link: outside}, input{path: "l/new/victim", content: "evil"}},
		{"tree over link", node{Path: "l", Link: outside}, input{path: "l", tree: []node{{Path: "victim", Content: "evil"}}}},
		{"tree with link inside", node{Path: "a/l", Link: outside}, input{tree: []node{{Path: "a/l/victim", Content: "evil"}}}},
		{"tree below link", node{Path: "l", Link: outside}, input{path: "l/t", tree: []node{{Path: "victim", Content: "evil"}}}},
		{"replace link", node{Path: "l", Link: outside}, input{path: "l", tree: []node{{Path: "victim", Content: "evil"}}, replace: true}},
		{"replace below link", node{Path: "l", Link: outside}, input{path: "l/victim", content: "evil", replace: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, store := open(t)
			s := session(t, b, resolve(t, store, []input{{tree: []node{test.node}}, test.over})...)
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadDir(outside)
			if err != nil || len(left) != 1 {
				t.Errorf("outside holds %v, %v", left, err)
			}
			if got, err := os.ReadFile(victim); err != nil || string(got) != "untouched" {
				t.Errorf("victim is %q, %v", got, err)
			}
		})
	}
}

func testBadInputs(t *testing.T, open Opener) {
	missing := cache.SumBytes([]byte("never stored"))
	for _, in := range []backend.Input{
		{Path: "../x", Content: []byte("x")},
		{Path: "/etc/x", Content: []byte("x")},
		{Path: "a/../../x", Content: []byte("x")},
		{Path: "a\x00b", Content: []byte("x")},
		{Path: "", Content: []byte("x")},
		{Path: "t", Tree: missing},
	} {
		b, _ := open(t)
		s, err := b.Open(t.Context(), backend.Spec{Inputs: []backend.Input{in}})
		if err == nil {
			t.Errorf("input %q was taken", in.Path)
			_ = s.Close(t.Context())
		}
	}
}

func testCollect(t *testing.T, open Opener) {
	b, store := open(t)
	s := session(t, b, backend.Input{Tree: putTree(t, store,
		node{Path: "d/f", Content: "content"},
		node{Path: "link", Link: "d/f"},
		node{Path: "dirlink", Link: "d"},
		node{Path: "abs", Link: "/etc/passwd"},
		node{Path: "dangling", Link: "nowhere"},
		node{Path: "loop", Link: "loop"},
	)})
	if got, err := collect(t, s, "d/f"); err != nil || got != "content" {
		t.Errorf("d/f: got %q, %v", got, err)
	}
	for _, test := range []struct {
		path string
		want error // nil is any
	}{
		{"absent", fs.ErrNotExist},
		{"absent/f", fs.ErrNotExist},
		{"d/f/below", fs.ErrNotExist},
		{"d", backend.ErrNotRegular},
		{"link", backend.ErrNotRegular},
		{"dirlink/f", backend.ErrNotRegular},
		{"abs", backend.ErrNotRegular},
		{"dangling", backend.ErrNotRegular},
		{"loop", backend.ErrNotRegular},
		{"loop/f", backend.ErrNotRegular},
		{"../work/d/f", nil},
		{"d/../d/f", nil},
		{"/etc/passwd", nil},
		{"", nil},
		{".", nil},
	} {
		got, err := collect(t, s, test.path)
		if err == nil {
			t.Errorf("%q: got %q", test.path, got)
		} else if test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%q: got %v, want %v", test.path, err, test.want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Collect(cancelled, "d/f"); !errors.Is(err, context.Canceled) {
		t.Errorf("on a cancelled context: %v", err)
	}
}

func testClose(t *testing.T, open Opener) {
	b, store := open(t)
	s := session(t, b, backend.Input{Tree: putTree(t, store, node{Path: "f", Content: "x"})})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if err := s.Close(cancelled); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Exec(t.Context(), shell("true")); err == nil {
		t.Error("a closed session runs commands")
	}
	if _, err := s.Collect(t.Context(), "f"); err == nil {
		t.Error("a closed session has files")
	}
	if _, err := os.Lstat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the workspace is still there: %v", err)
	}
}
