// Package unsynced writes files that save time and have a checksum: they appear
// whole, and nobody waits for the disk. What a loss of power within seconds leaves
// of one has not its checksum, and is as good as none.
package unsynced

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Write makes the parts, one after the other, the content of a file. Until it
// returns nil, what was there before stays.
func Write(path string, mode fs.FileMode, parts ...[]byte) error {
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-"+strconv.FormatUint(rand.Uint64(), 36))
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if _, err = f.Write(part); err != nil {
			break
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = replace(next, path)
	}
	if err != nil {
		os.Remove(next)
	}
	return err
}
