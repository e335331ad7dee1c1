package cache

import (
	"os"
	"path/filepath"
	"testing"
)

// A store keeps its ID; a new store at the same path has another.
func TestStoreID(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	id := func(o Options) string {
		t.Helper()
		d, err := OpenDisk(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		return d.ID()
	}
	if a, b := id(Options{ReadOnly: true}), id(Options{ReadOnly: true}); a == "" || a == b {
		t.Errorf("a store that is not there has the ID %q, then %q", a, b)
	}
	first := id(Options{})
	if again, read := id(Options{}), id(Options{ReadOnly: true}); first == "" || again != first || read != first {
		t.Errorf("the ID is %q, then %q and %q", first, again, read)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o644); err != nil { // as power loss leaves it
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "empty"), filepath.Join(dir, idTag)); err != nil {
		t.Fatal(err)
	}
	second := id(Options{})
	if second == "" || second == first {
		t.Errorf("after the loss of %q the ID is %q", first, second)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if third := id(Options{}); third == second {
		t.Errorf("the new store has the ID of the old one, %q", third)
	}
}
