package lockedfile

import (
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"
)

// KeysFile is the name of the file whose bytes Keys locks.
const KeysFile = "keys"

// Keys are locks by key in a directory. Where the system can lock bytes for an open file, each lock is a byte
// of one file that is never written: creating and removing a file for each piece of work would take longer.
// Elsewhere, each lock is a file, which is removed with it.
type Keys struct {
	Dir   string
	bytes byteLocks
}

// Try locks a key without waiting; ok is false if another holder has it. release can be called more than once.
func (k *Keys) Try(key [32]byte) (release func(), ok bool, err error) {
	release, ok, err = k.bytes.try(filepath.Join(k.Dir, KeysFile), key)
	if errors.Is(err, errors.ErrUnsupported) {
		l, err := Try(filepath.Join(k.Dir, hex.EncodeToString(key[:])))
		if l == nil || err != nil {
			return nil, false, err
		}
		release, ok = func() { _ = l.Remove() }, true
	}
	if !ok || err != nil {
		return nil, false, err
	}
	return sync.OnceFunc(release), true, nil
}

// Close closes the file. No key may be held; Try opens the file again.
func (k *Keys) Close() error { return k.bytes.close() }
