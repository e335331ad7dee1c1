package outdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// An export removes the files of earlier exports that it no longer writes, and no others.
func TestExportRemovesItsOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	export := func(writer string, names ...string) {
		t.Helper()
		err := Export(dir, writer, func(d *Dir) error {
			for _, name := range names {
				if err := d.Write(filepath.Join(dir, filepath.FromSlash(name)), []byte(name)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	has := func(what string, want ...string) {
		t.Helper()
		var got []string
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && d.Name() != ListName {
				name, _ := filepath.Rel(dir, path)
				got = append(got, filepath.ToSlash(name))
			}
			return err
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	export("a", "x/one", "x/two", "y/three", "top")
	export("b", "y/three", "z")
	has("two writers", "top", "x/one", "x/two", "y/three", "z")
	if err := os.WriteFile(filepath.Join(dir, "x", "notes"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "top"), []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	export("a", "x/one")
	has("edited files, those of another writer, and unknown files stay", "top", "x/notes", "x/one", "y/three", "z")
	export("b")
	if has("files that no writer writes any more", "top", "x/notes", "x/one"); exists(filepath.Join(dir, "y")) {
		t.Error("an empty directory is left")
	}

	failed := errors.New("failed")
	err := Export(dir, "a", func(d *Dir) error {
		return errors.Join(d.Write(filepath.Join(dir, "x", "more"), nil), failed)
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	has("an export that failed", "top", "x/more", "x/notes", "x/one")
	export("a")
	has("the next one", "top", "x/notes")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// The target of a link is not the export's.
func TestExportFollowsNoLink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "x", "one")
	if err := Export(dir, "a", func(d *Dir) error { return d.Write(path, nil) }); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "one"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Dir(path)); err != nil {
		t.Skip(err)
	}
	if err := Export(dir, "a", func(*Dir) error { return nil }); err != nil || !exists(filepath.Join(other, "one")) {
		t.Errorf("a file elsewhere is gone: %v", err)
	}
}

// A damaged list is an error, and no file is removed.
func TestExportDamagedList(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ListName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Export(dir, "a", func(*Dir) error { return nil }); err == nil {
		t.Error("a damaged list is not rejected")
	}
}

func TestExportWritesThroughNoLink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(other, filepath.Join(dir, "away")); err != nil {
		t.Skip(err)
	}
	target := filepath.Join(other, "target")
	if err := errors.Join(os.WriteFile(target, []byte("theirs"), 0o644), os.Symlink(target, filepath.Join(dir, "file"))); err != nil {
		t.Fatal(err)
	}
	for name, written := range map[string]bool{"away/one": false, "away/deep/one": false, "x/../../one": false, "file": true, "near/one": true} {
		err := Export(dir, "a", func(d *Dir) error { return d.Write(filepath.Join(dir, filepath.FromSlash(name)), []byte("ours")) })
		if (err == nil) != written {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) != 1 {
		t.Errorf("elsewhere are %v, %v", entries, err)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "theirs" {
		t.Errorf("the target of a link has %q, %v", text, err)
	}
	list := filepath.Join(dir, ListName)
	if err := errors.Join(os.Remove(list), os.Symlink(os.DevNull, list)); err != nil {
		t.Fatal(err)
	}
	if err := Export(dir, "a", func(*Dir) error { return nil }); err == nil {
		t.Error("a link is read as the list")
	}
}

// An export removes the empty directories of earlier exports that it no longer makes.
func TestExportRemovesItsDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	export := func(dirs, files []string) {
		t.Helper()
		err := Export(dir, "a", func(d *Dir) error {
			var errs []error
			for _, name := range dirs {
				errs = append(errs, d.MakeDir(filepath.Join(dir, name)))
			}
			for _, name := range files {
				errs = append(errs, d.Write(filepath.Join(dir, name), nil))
			}
			return errors.Join(errs...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	exists := func(name string) bool { _, err := os.Lstat(filepath.Join(dir, name)); return err == nil }
	export([]string{"steps/one/artifacts/empty", "steps/two/artifacts", "kept", "mine"}, []string{"steps/two/artifacts/file", "kept/file"})
	if err := os.WriteFile(filepath.Join(dir, "mine", "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"steps/one/artifacts/empty", "steps/two/artifacts/file", "kept/file"} {
		if !exists(name) {
			t.Errorf("%s was not made", name)
		}
	}
	export([]string{"kept"}, nil)
	for name, want := range map[string]bool{"steps": false, "kept": true, "kept/file": false, "mine/notes": true} {
		if exists(name) != want {
			t.Errorf("%s exists: %v", name, !want)
		}
	}
	export(nil, nil)
	if exists("kept") || !exists("mine") {
		t.Error("kept is left, or mine is gone")
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "link")); err == nil {
		err := Export(dir, "a", func(d *Dir) error { return d.MakeDir(filepath.Join(dir, "link", "below")) })
		if err == nil {
			t.Error("a directory was made through a link that leads out")
		}
	}
}
