package eval

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
)

// A configuration that is not evaluated again knows of no links that are new.
func TestExportStaysInside(t *testing.T) {
	root, outer := t.TempDir(), t.TempDir()
	for _, dir := range []string{"out", "elsewhere"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"out/away": outer, "out/near": "../elsewhere"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	p := &Project{Config: &lang.Config{Root: root}}
	for path, inside := range map[string]bool{
		"out/a.json": true, "new/deep/a.json": true, "out/near/a.json": true, "out/near/new/a.json": true,
		"out/away": false, "out/away/a.json": false, "out/away/new/deep/a.json": false,
	} {
		if err := p.staysInside(filepath.Join(root, path)); (err == nil) != inside {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := p.staysInside(filepath.Join(outer, "a.json")); err != nil { // was asked for
		t.Error(err)
	}
}
