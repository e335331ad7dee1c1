package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	holds := func(want string) {
		t.Helper()
		content, err := os.ReadFile(path)
		entries, listed := os.ReadDir(dir)
		if err != nil || string(content) != want || listed != nil || len(entries) != 1 {
			t.Errorf("contains %q, %v, next to %d entries, %v; want only %q", content, err, len(entries)-1, listed, want)
		}
	}
	for _, parts := range [][]string{{"first"}, {"second, ", "which is ", "longer"}, {}} {
		whole := ""
		var bytes [][]byte
		for _, part := range parts {
			whole += part
			bytes = append(bytes, []byte(part))
		}
		if err := Write(path, 0o600, bytes...); err != nil {
			t.Fatal(err)
		}
		holds(whole)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A failed write leaves the existing file.
func TestWriteNowhere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{path, filepath.Join(dir, "missing", "file")} {
		if err := Write(at, 0o600, []byte("content")); err == nil {
			t.Errorf("%s was written", at)
		}
	}
	entries, err := os.ReadDir(dir)
	if info, statErr := os.Stat(path); err != nil || statErr != nil || !info.IsDir() || len(entries) != 1 {
		t.Errorf("left are %v, %v, %v", entries, err, statErr)
	}
}

// An existing file keeps its permissions; a symlink is replaced, not followed.
func TestWriteDurable(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{path, link} {
		if err := WriteDurable(at, 0o644, []byte("new at "+filepath.Base(at))); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"file": 0o600, "link": 0o644} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		info, statErr := os.Lstat(filepath.Join(dir, name))
		if err != nil || statErr != nil || string(content) != "new at "+name || info.Mode() != mode {
			t.Errorf("%s holds %q, mode %v, %v, %v", name, content, info.Mode(), err, statErr)
		}
	}
}
