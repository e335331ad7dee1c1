// Package outdir writes and removes the files of an export. It does not know what is in them.
package outdir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// Write writes a file.
func Write(path string, content []byte) error { return WriteMode(path, content, 0o644) }

// WriteMode leaves a file alone that has this content and mode already: a run that found
// nothing to do should not sync hundreds of files either.
func WriteMode(path string, content []byte, mode fs.FileMode) error {
	if same(path, content, mode) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteDurable(path, mode, content)
}

// Remove removes a file that need not be there.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func same(path string, content []byte, mode fs.FileMode) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || (info.Mode()^mode)&0o111 != 0 || info.Size() != int64(len(content)) {
		return false
	}
	old, err := os.ReadFile(path)
	return err == nil && bytes.Equal(old, content)
}
