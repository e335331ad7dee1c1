// Package outdir writes the files of an export, and removes those of the last export that are not written
// again. It does not know what they contain.
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

// WriteMode writes a file that is executable if the mode is. It leaves a file alone that is as it
// should be: a run that found nothing to do should not sync hundreds of files either.
func WriteMode(path string, content []byte, mode fs.FileMode) error {
	if err := setExecutable(path, mode); err != nil {
		return err
	}
	if hasContent(path, content, mode) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteDurable(path, mode, content)
}

// executable masks the owner's permission. That of others depends on the umask.
const executable fs.FileMode = 0o100

// setExecutable makes an existing file executable, or not, for all who can read it: a file that is
// replaced keeps its permissions.
func setExecutable(path string, mode fs.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || (info.Mode()^mode)&executable == 0 {
		return nil //nolint:nilerr // a file that is missing is written
	}
	perm := info.Mode().Perm() &^ 0o111
	if mode&executable != 0 {
		perm |= perm >> 2 & 0o111
	}
	return os.Chmod(path, perm)
}

// Remove removes a file that need not be there.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func hasContent(path string, content []byte, mode fs.FileMode) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || (info.Mode()^mode)&executable != 0 || info.Size() != int64(len(content)) {
		return false
	}
	old, err := os.ReadFile(path)
	return err == nil && bytes.Equal(old, content)
}
