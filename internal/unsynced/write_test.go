package unsynced

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
			t.Errorf("holds %q, %v, beside %d entries, %v; want %q alone", content, err, len(entries)-1, listed, want)
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

// What cannot be written leaves what is there.
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
