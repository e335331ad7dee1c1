package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Parts and paths of a workspace follow its layout, also after it is adopted.
func TestAdopt(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	l := Layout{
		Work: at("hidden"), Home: at("home"), Temp: at("tmp"), Owner: Owner{os.Getuid(), os.Getgid()},
		Places: []backend.Place{{Path: "app", At: at("placed/app")}, {Path: "a/one", At: at("one.txt")}},
	}
	if err := os.MkdirAll(at("placed/app/of-the-image"), 0o755); err != nil {
		t.Fatal(err)
	}
	store := cache.NewMemory()
	digest, err := cache.PutBytes(t.Context(), store, []byte("tree"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := cache.BuildTree([]cache.Entry{{Path: "app/sub/x", Digest: digest}, {Path: "a/one", Digest: digest}, {Path: "else", Digest: digest}})
	if err == nil {
		err = tree.Store(t.Context(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := Adopt(l, store)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Real("app"); err == nil {
		t.Error("a path exists before files were placed there")
	}
	if err := w.Place(t.Context(), backend.Input{Tree: tree.Root}, backend.Input{Path: "app/own", Content: []byte("own")}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if w, err = Adopt(l, store); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	check := func(want string) {
		t.Helper()
		var got []string
		for _, name := range []string{"placed/app/of-the-image", "placed/app/sub/x", "placed/app/own", "one.txt", "hidden/else", "hidden/app/sub/x"} {
			if text, err := os.ReadFile(at(name)); err == nil {
				got = append(got, name+"="+string(text))
			} else if _, err := os.Stat(at(name)); err == nil {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("there is %q, want %q", got, want)
		}
	}
	check("placed/app/sub/x=tree placed/app/own=own one.txt=tree hidden/else=tree")
	if names, err := w.List(t.Context(), "app", 10); err != nil || strings.Join(names, " ") != "app/own app/sub/x" {
		t.Errorf("listed %q, %v", names, err)
	}
	if err := os.Symlink("/", at("placed/app/sub/link")); err != nil {
		t.Fatal(err)
	}
	if err := w.Place(t.Context(), backend.Input{Path: "app/sub/link/y", Content: []byte("y")}, backend.Input{Path: "app", Tree: tree.Root, Replace: true}); err != nil {
		t.Fatal(err)
	}
	check("one.txt=tree hidden/else=tree")
	if err := w.Verify(); err != nil {
		t.Error(err)
	}
}
