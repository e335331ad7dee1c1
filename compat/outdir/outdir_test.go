package outdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestWriteMode(t *testing.T) {
	for _, c := range []struct {
		name    string
		old     string
		oldMode fs.FileMode
		mode    fs.FileMode
		kept    bool // the file is not written again
		unix    bool
	}{
		{"equal", "text", 0o644, 0o644, true, false},
		{"a group can write", "text", 0o664, 0o644, true, false},
		{"other content of that size", "TEXT", 0o644, 0o644, false, false},
		{"longer", "text\n", 0o644, 0o644, false, false},
		{"becomes executable", "text", 0o644, 0o755, true, true},
		{"is no longer executable", "text", 0o755, 0o644, true, true},
		{"executable with a narrow umask", "text", 0o700, 0o755, true, true},
		{"executable, other content", "TEXT", 0o644, 0o755, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.unix && runtime.GOOS == "windows" {
				t.Skip("no executable bits")
			}
			path := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(path, []byte(c.old), c.oldMode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.oldMode); err != nil { // regardless of the umask
				t.Fatal(err)
			}
			old := time.Unix(1_000_000_000, 0)
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
			if err := WriteMode(path, []byte("text"), c.mode); err != nil {
				t.Fatal(err)
			}
			check(t, path, c.mode)
			if info, err := os.Stat(path); err != nil || info.ModTime().Equal(old) != c.kept {
				t.Errorf("modified at %v, want kept to be %v", info.ModTime(), c.kept)
			}
		})
	}
}

func TestWriteMakesDirectories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "out")
	if err := Write(path, []byte("text")); err != nil {
		t.Fatal(err)
	}
	check(t, path, 0o644)
}

// TestWriteReplacesLink keeps an export from writing through a link.
func TestWriteReplacesLink(t *testing.T) {
	dir := t.TempDir()
	other, path := filepath.Join(dir, "other"), filepath.Join(dir, "out")
	if err := os.WriteFile(other, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path); err != nil {
		t.Skip(err)
	}
	if err := Write(path, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("out is %v, %v", info.Mode(), err)
	}
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := Write(path, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time the file is missing
		if err := Remove(path); err != nil {
			t.Error(err)
		}
	}
	if err := Write(path, nil); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); err == nil {
		t.Error("a directory with a file is removed without an error")
	}
}

func check(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil || string(content) != "text" {
		t.Errorf("content %q, %v", content, err)
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || (info.Mode()^mode)&executable != 0) {
		t.Errorf("mode %v, want %v", info.Mode(), mode)
	}
}
