package eval

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
)

// A configuration that is not evaluated again does not see new links.
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
	for path, inside := range map[string]bool{
		"out/a.json": true, "new/deep/a.json": true, "out/near/a.json": true, "out/near/new/a.json": true,
		"out/away": false, "out/away/a.json": false, "out/away/new/deep/a.json": false,
	} {
		if err := staysInside(root, filepath.Join(root, path)); (err == nil) != inside {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := staysInside(root, filepath.Join(outer, "a.json")); err != nil { // was selected
		t.Error(err)
	}
}

// Benchmarks make directories of these names.
func TestExportNames(t *testing.T) {
	for name, valid := range map[string]bool{"..": false, "a/../../b": false, "/etc": false, "a\x00b": false, "a..b": true, "category/name": true, ".": true} {
		for _, cell := range []report.Cell{
			{Problem: name}, {Solution: name}, {Backend: name}, {Checkpoints: []report.Checkpoint{{Name: name}}},
		} {
			if err := checkNames(&report.Results{Cells: []report.Cell{cell}}); (err == nil) != valid {
				t.Errorf("%q in %+v: %v", name, cell, err)
			}
		}
	}
}
