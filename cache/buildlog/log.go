package buildlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/files"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// compactSlack is how much garbage a log may hold beyond as much as it holds
// of live entries.
const compactSlack = 64 << 10

// Log remembers the last answer of each node of one project. It is a
// file that is only appended to; the last entry of an address counts. When
// most of it is garbage it is rewritten.
//
// Methods are safe for concurrent use, and processes may append to one file
// at once. What others append is seen when the log is opened, or when it is
// compacted.
type Log struct {
	files    files.System
	path     string
	readOnly bool
	framer   framer

	mu     sync.Mutex
	lock   lockedfile.Mutex // on path+".lock": the log itself is replaced by compaction
	f      files.File
	wanted map[string]bool // addresses whose entries are loaded; nil is all
	content
}

// content is what a process knows of a log's file.
type content struct {
	entries map[string]string // address -> encoded entry; both may share the loaded file's memory
	live    int64             // bytes of frames that entries refers to
	size    int64             // bytes of the file
	dropped int
	foreign int
}

var errClosed = errors.New("the build log is closed")

// Open opens the log at path and creates it if needed. Damage is
// never an error: what can be read is kept, and Dropped says how much could
// not. Entries that the key does not prove are not read, as Foreign says.
func Open(path string, key proof.Key) (*Log, error) { return OpenOf(path, key, nil) }

// OpenOf is Open for a caller that needs only the entries of some
// addresses; the others cost next to nothing. Such a log is never compacted. Addresses
// that are nil, and not just none, are all.
func OpenOf(path string, key proof.Key, addrs []string) (*Log, error) {
	return openOn(files.OS, path, key, setOf(addrs))
}

// setOf is nil for nil.
func setOf(addrs []string) map[string]bool {
	if addrs == nil {
		return nil
	}
	set := make(map[string]bool, len(addrs))
	for _, addr := range addrs {
		set[addr] = true
	}
	return set
}

// OpenOn is Open with files that are not the system's own.
func OpenOn(s files.System, path string, key proof.Key) (*Log, error) {
	return openOn(s, path, key, nil)
}

func openOn(s files.System, path string, key proof.Key, wanted map[string]bool) (*Log, error) {
	l, err := openAt(s, path, key, wanted)
	if err != nil {
		return nil, fmt.Errorf("opening build log: %w", err)
	}
	return l, nil
}

func openAt(s files.System, path string, key proof.Key, wanted map[string]bool) (*Log, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := s.MkdirAll(filepath.Dir(abs)); err != nil {
		return nil, err
	}
	l := &Log{files: s, path: abs, framer: newFramer(key), wanted: wanted}
	l.lock.Path = abs + ".lock"
	err = l.locked(func() error {
		if err := l.reopen(); err != nil {
			return err
		}
		if l.dropped+l.foreign > 0 && l.wanted == nil {
			_ = l.compact() // or else the damage is counted again next time
			return nil
		}
		l.compactIfWorth()
		return nil
	})
	if err != nil {
		if l.f != nil {
			l.f.Close()
		}
		return nil, err
	}
	return l, nil
}

// Read reads the log at path for plan and explain: it creates,
// locks and writes nothing, and a log that is not there is empty. An entry
// that another process is appending just then may be missing from it.
func Read(path string, key proof.Key) (*Log, error) { return ReadOf(path, key, nil) }

// ReadOf is Read for a caller that needs only the entries of some addresses, as
// OpenOf.
func ReadOf(path string, key proof.Key, addrs []string) (*Log, error) {
	l := &Log{files: files.OS, path: path, readOnly: true, framer: newFramer(key), wanted: setOf(addrs)}
	if err := l.read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading build log: %w", err)
	}
	return l, nil
}

// Get returns the last entry of addr.
func (l *Log) Get(addr string) (Entry, bool) {
	l.mu.Lock()
	payload, ok := l.entries[addr]
	l.mu.Unlock()
	if !ok {
		return Entry{}, false
	}
	e, err := decodeEntry(payload)
	return e, err == nil
}

// Addrs returns every address in the log, sorted.
func (l *Log) Addrs() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	addrs := make([]string, 0, len(l.entries))
	for a := range l.entries {
		addrs = append(addrs, a)
	}
	slices.Sort(addrs)
	return addrs
}

// Dropped returns how many entries were lost to damage when the log was read.
func (l *Log) Dropped() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// Foreign returns how many entries were not read because the key does not prove them.
func (l *Log) Foreign() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.foreign
}

// Append makes e the last entry of its address. When it returns nil the entry
// survives the end of this process, but not of the machine's power. After an
// error the log is as it was.
func (l *Log) Append(e Entry) error {
	if l.readOnly {
		return fmt.Errorf("appending to build log: %w", cache.ErrReadOnly)
	}
	frame, err := appendEntry(l.framer.start(nil), &e)
	if err == nil && len(frame)-frameHeader > maxPayload {
		err = fmt.Errorf("entry of %s is too large: %d bytes", e.Addr, len(frame))
	}
	if err != nil {
		return fmt.Errorf("appending to build log: %w", err)
	}
	l.framer.seal(frame)

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return fmt.Errorf("appending to build log: %w", errClosed)
	}
	err = l.locked(func() error {
		if err := l.follow(); err != nil {
			return err
		}
		if err := l.write(frame); err != nil {
			return err
		}
		l.index(string(frame[frameHeader:]))
		l.compactIfWorth()
		return nil
	})
	if err != nil {
		return fmt.Errorf("appending to build log: %w", err)
	}
	return nil
}

// locked runs fn while no other process appends or compacts.
func (l *Log) locked(fn func() error) error { return l.lock.Exclusive(fn) }

// follow goes over to the file at path if that is no longer the open one
// because another process compacted, or removed it.
func (l *Log) follow() error {
	mine, err := l.f.Stat()
	if err != nil {
		return err
	}
	l.size = mine.Size()
	if visible, err := os.Stat(l.path); err == nil && os.SameFile(mine, visible) {
		return nil
	}
	return l.reopen()
}

// reopen opens and loads the file at path.
func (l *Log) reopen() error {
	f, err := l.files.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	if err := l.read(); err != nil {
		f.Close()
		return err
	}
	if l.f != nil {
		l.f.Close()
	}
	l.f = f
	return nil
}

// write appends the frame whole or, as far as it can, not at all.
func (l *Log) write(frame []byte) error {
	_, err := l.f.Write(frame)
	if err != nil {
		return errors.Join(err, l.f.Truncate(l.size))
	}
	l.size += int64(len(frame))
	return nil
}

// compactIfWorth compacts a log that is mostly garbage. A compaction that
// fails, for want of space perhaps, leaves the log as it was, which is good.
func (l *Log) compactIfWorth() {
	if l.wanted == nil && l.size > 2*l.live+compactSlack {
		_ = l.compact()
	}
}

// compact replaces the file by one that holds the last entry of each address,
// those that other processes appended included.
func (l *Log) compact() error {
	dropped, foreign := l.dropped, l.foreign
	if err := l.reopen(); err != nil {
		return err
	}
	dropped, foreign = max(dropped, l.dropped), max(foreign, l.foreign)
	addrs := make([]string, 0, len(l.entries))
	for a := range l.entries {
		addrs = append(addrs, a)
	}
	slices.Sort(addrs)
	b := make([]byte, 0, l.live)
	for _, a := range addrs {
		start := len(b)
		b = append(l.framer.start(b), l.entries[a]...)
		l.framer.seal(b[start:])
	}
	err := l.replace(b)
	if err == nil {
		err = l.reopen()
	}
	l.dropped, l.foreign = dropped, foreign
	return err
}

// replace makes b the content of the file, also after a loss of power. Whoever
// gets here has the lock, so the name of the file under way is no other process's and
// what a process that was killed left of it is written over.
func (l *Log) replace(b []byte) error {
	next := l.path + ".new"
	f, err := l.files.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	_ = l.files.Remove(l.indexPath()) // it is about what is there now
	if err == nil {
		err = l.files.Rename(next, l.path)
	}
	if err != nil {
		return errors.Join(err, l.files.Remove(next))
	}
	return nil
}

// Close lets go of the log. Entries can still be read from l.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := errors.Join(l.f.Close(), l.lock.Close())
	l.f = nil
	return err
}
