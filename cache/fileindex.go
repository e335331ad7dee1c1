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

// indexKeep is how long an unused entry is kept.
const indexKeep = 60 // days

// FileIndex caches the digests of source files by file state, so that unchanged files are not read again.
// A file that was written so recently that another write could go unnoticed is not cached until it is
// stable.
//
// Its methods are safe for concurrent use. Several processes can save to one path: saving is atomic, and
// the last one wins.
type FileIndex struct {
	path  string
	place proof.Place

	mu      sync.Mutex
	entries indexTable
	dirty   bool
	// hashed, if not nil, is called with each path that is read. Tests use it to count reads.
	hashed func(path string)
}

// pathID is a hash of a path: sorted entries of a fixed size can be searched without loading them.
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

// OpenFileIndex begins to load the index at path, for which methods wait. A file that is missing, damaged,
// unreadable, not proven at the place or of another version counts as an empty index, since the index only
// saves time.
func OpenFileIndex(path string, place proof.Place) (*FileIndex, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("opening file index: %w", err)
	}
	clocks.addDir(filepath.Dir(abs))
	ix := &FileIndex{path: abs, place: place}
	ix.mu.Lock() // only callers that look up an entry wait until they are read
	go func() {
		defer ix.mu.Unlock()
		if b := place.Read(path); b != nil {
			ix.entries, _ = decodeIndex(b)
		}
	}()
	return ix, nil
}

// Digest returns the digest of the regular file path, with the state fi that the caller has just read by
// Stat or Lstat. It reads the file unless the index contains this state. If the file changes meanwhile, it
// returns a *ChangedError. Paths are compared literally.
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
		e.used = day // saved only together with other changes
		ix.entries.put(id, e)
	}
	return Digest{Hash: e.hash, Size: state.size}, true
}

// hash reads the file. stable reports that its state identifies its content from now on.
func (ix *FileIndex) hash(path string) (g Digest, state fileState, stable bool, err error) {
	if ix.hashed != nil {
		ix.hashed(path)
	}
	now := callerClock().UnixNano() // taken before the first byte is read, so a later write has a later time
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
	return g, state, ok && state.isSettled(path, now), nil
}

// Forget drops the entry of path, so that the next query reads the file.
func (ix *FileIndex) Forget(path string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.entries.remove(idOf(path)) {
		ix.dirty = true
	}
}

// Save writes the index if it changed since it was loaded or saved. It omits entries that were not used
// for two months.
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
