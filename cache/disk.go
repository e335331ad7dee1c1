package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/cache/files"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// layoutVersion is the content of VERSION. It must change if an old build would misread the new layout.
const layoutVersion = "fevalgraph-store 1\n"

// Paths inside a store's directory.
const (
	casDir     = "cas"
	acDir      = "ac"
	tmpDir     = "tmp"
	locksDir   = "locks"
	versionTag = "VERSION"
	idTag      = "ID"
)

// touchInterval is the age of a file's modification time after which a use updates it: long enough that
// reads rarely write, and short enough that gc can recognize files in use.
const touchInterval = 30 * time.Minute

// ErrReadOnly is returned by methods that would write to a store opened with Options.ReadOnly.
var ErrReadOnly = errors.New("the store is read-only")

// NotWritableError reports that a store's directory cannot be created or written.
type NotWritableError struct {
	Dir string
	Err error
}

func (e *NotWritableError) Error() string {
	return fmt.Sprintf("store directory %s is not writable: %v", e.Dir, e.Err)
}

func (e *NotWritableError) Unwrap() error { return e.Err }

// VersionError reports that a directory holds a store of another layout.
type VersionError struct{ Dir, Found string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("store directory %s has layout %q; this version reads %q",
		e.Dir, e.Found, strings.TrimSpace(layoutVersion))
}

// Options configures OpenDisk.
type Options struct {
	// ReadOnly leaves the directory unchanged: no file is created, touched or dropped, and a missing directory
	// is an empty store.
	ReadOnly bool
	// Signer signs records that are written, and only records that it signed are served. Without a signer,
	// every process that can write to the directory is trusted.
	Signer RecordKey
	// Files reads and writes the store; nil means the system's files.
	Files files.System
}

// Disk is a Store in a directory. Several processes can use a directory concurrently: files become visible
// by rename, and all locks are kernel locks.
//
//	cas/<2 hex>/<64 hex>   blobs by SHA-256, read-only files
//	ac/<2 hex>/<64 hex>    records by key
//	tmp/                   files not yet, or no longer, visible
//	locks/keys             a byte for each key whose work is running
//	locks/<64 hex>         the same as files, where bytes cannot be locked
//	locks/store            see Disk.lock
//	VERSION                the layout
//	ID                     see Disk.ID
//
// A file's modification time is the time of its last use, with the precision touchInterval. Permissions of
// created files follow from the mode of the directory.
type Disk struct {
	dir      string
	id       string
	readOnly bool
	signer   RecordKey
	mode     fs.FileMode // of its directory, and of files created in it
	files    files.System
	keys     lockedfile.Keys
	// lock is shared while a file is made visible or its use is noted, and exclusive while a file is removed
	// after a last look at it: so no file is removed because of an outdated state.
	lock     lockedfile.Mutex
	verified sync.Map // Digest -> fileState of blobs whose bytes this process has read; see copyBlob
}

var _ Store = (*Disk)(nil)

// OpenDisk opens the store in dir and creates missing parts. If the directory is not writable, it returns
// a *NotWritableError, and for another layout a *VersionError.
func OpenDisk(dir string, o Options) (*Disk, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	d := &Disk{dir: abs, readOnly: o.ReadOnly, signer: o.Signer, files: o.Files}
	d.keys.Dir, d.lock.Path = d.path(locksDir), d.path(locksDir, storeLock)
	if d.files == nil {
		d.files = files.OS
	}
	if !o.ReadOnly {
		if err := d.create(); err != nil {
			return nil, &NotWritableError{Dir: abs, Err: err}
		}
	}
	if err := d.checkVersion(); err != nil {
		return nil, err
	}
	d.identify()
	return d, nil
}

// Used returns the path of a blob's file and the time of its last noted use, without noting a use.
func (d *Disk) Used(g Digest) (path string, when time.Time, err error) {
	path = d.blobPath(g)
	fi, err := os.Lstat(path)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("looking up blob %s: %w", g, err)
	}
	return path, fi.ModTime(), nil
}

// Close closes the files of the locks that d took, which must all be released. A later use of d opens them
// again.
func (d *Disk) Close() error {
	return errors.Join(d.keys.Close(), d.lock.Close())
}

// Dir returns the absolute path of the store's directory.
func (d *Disk) Dir() string { return d.dir }

// Room returns an error if the disk that a store writes to is full.
func Room(s Store) error {
	switch s := s.(type) {
	case *Disk:
		return exhaustion.Room(s.dir)
	case *Layered:
		return exhaustion.Room(s.Upper.dir)
	}
	return nil
}

// create makes the layout's directories. It writes a file each time, since permission bits are misleading
// for root and on read-only mounts.
func (d *Disk) create() error {
	if err := d.makeRoot(); err != nil {
		return err
	}
	for _, name := range []string{tmpDir, casDir, acDir, locksDir} {
		if err := d.makeDir(d.path(name)); err != nil {
			return err
		}
	}
	f, err := d.createTemp("probe")
	if err != nil {
		return err
	}
	defer d.files.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	// Power loss during creation leaves an empty VERSION.
	if fi, err := os.Stat(d.path(versionTag)); err == nil && fi.Size() > 0 {
		return nil
	}
	// A torn VERSION would look like another layout, so this file is synced.
	f, err = d.createTemp("file")
	if err != nil {
		return err
	}
	if _, err = f.Write([]byte(layoutVersion)); err == nil {
		err = f.Sync()
	}
	return d.publish(f, d.path(versionTag), err)
}

func (d *Disk) checkVersion() error {
	b, err := files.ReadFile(d.files, d.path(versionTag))
	if d.readOnly && (errors.Is(err, fs.ErrNotExist) || err == nil && len(b) == 0) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening store: %w", err)
	}
	if string(b) != layoutVersion {
		return &VersionError{Dir: d.dir, Found: strings.TrimSpace(string(b[:min(len(b), 64)]))}
	}
	return nil
}

func (d *Disk) path(elem ...string) string {
	return filepath.Join(d.dir, filepath.Join(elem...))
}

// shardPath returns the path of the blob or record with the name hex under top.
func (d *Disk) shardPath(top, hex string) string {
	return d.path(top, hex[:2], hex)
}

// createTemp creates a file in tmp, even if another process removed tmp.
func (d *Disk) createTemp(what string) (files.File, error) {
	f, err := files.CreateTemp(d.files, d.path(tmpDir), what)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.makeDir(d.path(tmpDir)); err != nil {
			return nil, err
		}
		f, err = files.CreateTemp(d.files, d.path(tmpDir), what)
	}
	return f, err
}

// writeFile writes b to path atomically, except if the machine loses power within seconds.
func (d *Disk) writeFile(path string, b []byte) error {
	f, err := d.createTemp("file")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return d.publish(f, path, err)
}

// publish closes f, a file in tmp, and renames it to its visible name; if err is not nil or a step fails,
// it removes f instead.
func (d *Disk) publish(f files.File, path string, err error) error {
	if err == nil {
		err = f.Chmod(d.mode & 0o444)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = d.lock.Shared(func() error { return d.files.Rename(f.Name(), path) })
	}
	if errors.Is(err, fs.ErrNotExist) { // the shard's directory is missing
		if err = d.makeDir(filepath.Dir(path)); err == nil {
			err = d.lock.Shared(func() error { return d.files.Rename(f.Name(), path) })
		}
	}
	if err != nil {
		d.files.Remove(f.Name())
	}
	return err
}

// touch notes a use of the visible file path, whose state is fi. It reports whether gc will see the use:
// it cannot touch a file that vanished or belongs to another user.
func (d *Disk) touch(path string, fi fs.FileInfo) bool {
	now := time.Now()
	if now.Sub(fi.ModTime()).Abs() < touchInterval {
		return true
	}
	return !d.readOnly && d.lock.Shared(func() error { return d.files.Touch(path, now) }) == nil
}

// remove unlinks the visible file path if doomed returns true for its present state, and reports whether
// it did.
func (d *Disk) remove(path string, doomed func(fs.FileInfo) bool) (removed bool, err error) {
	if d.readOnly {
		return false, ErrReadOnly
	}
	err = d.lock.Exclusive(func() error {
		removed, err = d.removeUnlocked(path, doomed)
		return err
	})
	return removed, err
}

// removeUnlocked removes files. The caller must hold the exclusive lock.
func (d *Disk) removeUnlocked(path string, doomed func(fs.FileInfo) bool) (removed bool, err error) {
	fi, err := os.Lstat(path)
	if err == nil && doomed(fi) {
		err = d.files.Remove(path)
		removed = err == nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return removed, err
}

// contextReader returns an error when ctx ends.
type contextReader struct {
	ctx context.Context
	r   interface{ Read([]byte) (int, error) }
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
