package cache

import "testing"

// One look at a damaged output drops all of its damaged blobs, so that making
// it again repairs it in one go.
func TestIntact(t *testing.T) {
	s := NewMemory()
	entries := []Entry{{Path: "a"}, {Path: "b"}, {Path: "d/c"}, {Path: "d/e/f"}, {Path: "empty", Dir: true}}
	root := storeTree(t, s, entries...)
	tree, blob := Output{Digest: root, Tree: true}, Output{Digest: SumBytes([]byte("a"))}
	for _, o := range []Output{tree, blob} {
		if !Intact(t.Context(), s, o) {
			t.Errorf("%v is reported as damaged", o)
		}
	}
	for _, name := range []string{"a", "b", "d/e/f"} {
		s.keep(SumBytes([]byte(name)), []byte("x"))
	}
	for _, o := range []Output{tree, blob} {
		if Intact(t.Context(), s, o) {
			t.Errorf("%v is reported as intact", o)
		}
	}
	for _, name := range []string{"a", "b", "d/c", "d/e/f"} {
		want := name == "d/c"
		if has, err := s.Has(t.Context(), SumBytes([]byte(name))); err != nil || has != want {
			t.Errorf("%s: in the store: %t, %v; want %t", name, has, err, want)
		}
	}
	storeTree(t, s, entries...)
	if !Intact(t.Context(), s, tree) {
		t.Error("a repaired tree is reported as damaged")
	}
}
