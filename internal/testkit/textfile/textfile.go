// Package textfile opens files for tests of readers that take an *os.File.
package textfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Open opens a new file with a name and content, until the test ends.
func Open(t testing.TB, name, content string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return OpenAt(t, path)
}

// OpenAt opens a file until the test ends.
func OpenAt(t testing.TB, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}
