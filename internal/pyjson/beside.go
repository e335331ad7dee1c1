package pyjson

import (
	"fmt"
	"os"
	"path/filepath"
)

// ReadBeside reads an object in another file, next to the file of the caller; what describes it for users. It calls
// member for each member, as Reader.Object does. Without such a regular file it returns false.
func ReadBeside(path, what string, member func(r *Reader, key string) error) (found bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil //nolint:nilerr // what cannot be found is not used
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	r := NewReader(file, Options{})
	if err := r.Object(func(key string) error { return member(r, key) }); err != nil {
		return true, fmt.Errorf("the %s %s next to it: %w", what, filepath.Base(path), err)
	}
	return true, nil
}
