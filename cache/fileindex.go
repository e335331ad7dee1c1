package cache

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// indexKeep is the time for which an entry outlives its last use.
const indexKeep = 60 // days

// FileIndex remembers the digests of source files by the state the file
// system reports for them, so that a file that did not change is not read
// again. It holds only what it can prove: a file that was written so recently
// that another write could go unnoticed is hashed each time until it is stable.
//
// Its methods are safe for concurrent use. Several processes may save to one
// path: the last one wins, and what it wrote is whole.
type FileIndex struct {
	path  string
	place proof.Place

	mu      sync.Mutex
	entries indexTable
	dirty   bool
	// hashed, when not nil, gets each path that is read. Tests count with it.
	hashed func(path string)
}

// pathID stands for a path: entries of one size, in order, need not be loaded to be
// found, however many there are.
type pathID [16]byte

func idOf(path string) pathID {
	h := sha256.Sum256([]byte(path))
	return pathID(h[:16])
}

type indexEntry struct {
	state fileState
	hash  [sha256.Size]byte
	used  uint32 // day since 1970 of the last use
}

// OpenFileIndex begins to load the index at path, for which methods wait. A file that is missing, torn,
// corrupt, not proven at the place or of another version is an empty index; so is an unreadable file, since
// the index only ever saves time.
func OpenFileIndex(path string, place proof.Place) (*FileIndex, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("opening file index: %w", err)
	}
	ix := &FileIndex{path: abs, place: place}
	ix.mu.Lock() // until they are read, which only callers that look for an entry wait for
	go func() {
		defer ix.mu.Unlock()
		if b := place.Read(path); b != nil {
			ix.entries, _ = decodeIndex(b)
		}
	}()
	return ix, nil
}

// Digest returns the digest of the regular file path, whose state the caller has just read into fi (by Stat
// or Lstat). The file is read unless the index knows its state. A file that changes while it is read is a
// *ChangedError. Paths are compared as they are written.
func (ix *FileIndex) Digest(path string, fi fs.FileInfo) (Digest, error) {
	if !fi.Mode().IsRegular() {
		return Digest{}, fmt.Errorf("hashing file: %s is not a regular file", path)
	}
	id := idOf(path)
	if state, ok := stateOf(path, fi); ok {
		if g, ok := ix.lookup(id, state); ok {
			return g, nil
		}
	}
	g, state, stable, err := ix.hash(path)
	if err != nil {
		return Digest{}, fmt.Errorf("hashing file: %w", err)
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if stable {
		ix.entries.put(id, indexEntry{state: state, hash: g.Hash, used: today()})
		ix.dirty = true
	} else if ix.entries.remove(id) {
		ix.dirty = true
	}
	return g, nil
}

func (ix *FileIndex) lookup(id pathID, state fileState) (Digest, bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	e, ok := ix.entries.get(id)
	if !ok || e.state != state {
		return Digest{}, false
	}
	if day := today(); e.used != day {
		e.used = day // kept only if something else makes the index worth saving
		ix.entries.put(id, e)
	}
	return Digest{Hash: e.hash, Size: state.size}, true
}

// hash reads the file. stable says that its state identifies its bytes from
// now on.
func (ix *FileIndex) hash(path string) (g Digest, state fileState, stable bool, err error) {
	if ix.hashed != nil {
		ix.hashed(path)
	}
	now := time.Now().UnixNano() // before the first byte: a later write is stamped later
	f, err := os.Open(path)
	if err != nil {
		return Digest{}, fileState{}, false, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return Digest{}, fileState{}, false, err
	}
	if !before.Mode().IsRegular() {
		return Digest{}, fileState{}, false, fmt.Errorf("%s is not a regular file", path)
	}
	g, err = sum(context.Background(), nil, f)
	if err != nil {
		return Digest{}, fileState{}, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return Digest{}, fileState{}, false, err
	}
	state, ok := stateOf(path, before)
	if end, _ := stateOf(path, after); end != state || g.Size != state.size {
		return Digest{}, fileState{}, false, &ChangedError{Path: path}
	}
	return g, state, ok && state.stableAt(now), nil
}

// Forget drops what is known of path: it will be read at the next query.
func (ix *FileIndex) Forget(path string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.entries.remove(idOf(path)) {
		ix.dirty = true
	}
}

// Save writes the index if anything in it changed since it was loaded or
// saved. Entries that were not used for two months are left out then.
func (ix *FileIndex) Save() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if !ix.dirty {
		return nil
	}
	dir := filepath.Dir(ix.path)
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = ix.place.Write(ix.path, 0o644, ix.entries.encode(today()-indexKeep))
	}
	if err != nil {
		return fmt.Errorf("saving file index: %w", err)
	}
	ix.dirty = false
	return nil
}

func today() uint32 { return uint32(time.Now().Unix() / (24 * 60 * 60)) }
