package cache

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// Most blobs, and all records, are smaller than what a file system takes for a
// file, and making a file takes longer than most commands do. So these are first
// appended to a journal, as frames like those of a build log. The payload of one:
//
//	0  kind     'b' blob, 'r' record
//	1  used     int64, little-endian: nanoseconds since 1970, when it was put
//	9  hash     of the blob, or the record's key
//	41 content  of the blob, or the record as it would stand in a file
//
// All processes append to journal/current, under a lock. One that has become
// large is sealed: it gets an index and another name and is never written again.
// What is used again long after it was put gets a file of its own, and gc makes
// files of all that a journal holds. Until then, the journal counts.
const (
	journalDir     = "journal"
	currentJournal = "current"
	journalLock    = "journal" // in locksDir
	indexSuffix    = ".index"
)

// maxJournaled is how large a blob in a journal is at most, in bytes.
const maxJournaled = 4 << 10

// journalSize is the size from which a journal is sealed, in bytes: what is in
// the current one is known by reading all of it.
const journalSize = 8 << 20

// maxSealed is how many sealed journals there may be. Each is two open files and
// is looked at for whatever is not found, so with one more, the oldest is settled.
const maxSealed = 64

// place is where a frame is in a journal.
type place struct {
	at   int64 // of its header
	size int   // of the content
	used int64
}

// journal is the part of a store that is in journals. It is safe for concurrent
// use.
type journal struct {
	disk   *Disk
	framer framer
	// But in tests, these are journalSize, maxSealed and maxJournaled.
	limit      int64
	sealedMost int
	most       int // 0: nothing is put here

	mu      sync.Mutex
	lock    exclusive
	loaded  bool
	current *current  // nil when there is none
	sealed  []*sealed // the latest first
}

// current is the journal that is appended to, as far as it was read.
type current struct {
	file   files.File
	info   fs.FileInfo // as it was opened: its identity
	places map[ref]place
	good   int64 // the end of the last frame that was read
	seen   int64 // the size up to which there is nothing more to read
}

func newJournal(d *Disk) journal {
	return journal{disk: d, framer: newFramer(), limit: journalSize, sealedMost: maxSealed, most: maxJournaled}
}

// takes reports whether something of size bytes is to be put here.
func (j *journal) takes(size int) bool { return j.most > 0 && size <= j.most }

func (j *journal) path(name string) string { return j.disk.path(journalDir, name) }

// find tells how large the content of a frame is and when its last use was
// noted. What other processes append is found, too.
func (j *journal) find(r ref) (p place, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, _, ok = j.look(r)
	return p, ok
}

// get is find for who wants the content. A frame that is not what it was is
// forgotten: nobody finds it again.
func (j *journal) get(r ref) (f frame, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		p, in, ok := j.look(r)
		if !ok {
			return frame{}, false
		}
		if f, ok := readFrame(j.framer, in.opened(), r, p); ok {
			return f, true
		}
		in.forget(r) // an older one may be sound
	}
}

// forget makes as if the frame were not there, until it is put again.
func (j *journal) forget(r ref) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		_, in, ok := j.look(r)
		if !ok {
			return
		}
		in.forget(r)
	}
}

// holder is a journal that frames can be found in.
type holder interface {
	find(ref) (place, bool)
	forget(ref)
	opened() files.File
}

func (j *journal) look(r ref) (place, holder, bool) {
	if j.loaded {
		if p, in, ok := j.known(r); ok {
			return p, in, true
		}
	}
	if changed, err := j.follow(); !changed || err != nil {
		return place{}, nil, false
	}
	return j.known(r)
}

func (j *journal) known(r ref) (place, holder, bool) {
	if c := j.current; c != nil {
		if p, ok := c.find(r); ok {
			return p, c, true
		}
	}
	for _, s := range j.sealed {
		if p, ok := s.find(r); ok {
			return p, s, true
		}
	}
	return place{}, nil, false
}

// follow reads what there is more than at the last look, and reports whether there
// may be any.
func (j *journal) follow() (changed bool, err error) {
	info, err := os.Lstat(j.path(currentJournal))
	if err != nil {
		info = nil
	}
	c := j.current
	switch {
	case !j.loaded, (info == nil) != (c == nil), info != nil && (!os.SameFile(info, c.info) || info.Size() < c.good):
		return true, j.load() // another one was begun
	case info == nil || info.Size() == c.seen:
		return false, nil
	}
	return true, c.read(j.framer, info.Size())
}

// load opens all journals anew.
func (j *journal) load() error {
	j.closeFiles()
	flag := os.O_RDWR | os.O_APPEND
	if j.disk.readOnly {
		flag = os.O_RDONLY
	}
	// The current one first: if it is sealed meanwhile, it is there twice.
	if err := j.open(flag); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := j.sealedNames()
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		s, err := openSealed(j, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gc has just made files of it
		}
		if err != nil {
			return err
		}
		j.sealed = append(j.sealed, s)
	}
	j.loaded = true
	return nil
}

// open opens the current journal.
func (j *journal) open(flag int) error {
	f, err := j.disk.files.OpenFile(j.path(currentJournal), flag, 0o666)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	c := &current{file: f, info: info, places: map[ref]place{}}
	if err == nil {
		err = c.read(j.framer, info.Size())
	}
	if err != nil {
		f.Close()
		return err
	}
	j.current = c
	return nil
}

// sealedNames are those of sealed journals, in the order of their making.
func (j *journal) sealedNames() ([]string, error) {
	entries, err := readDir(j.disk.path(journalDir))
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != currentJournal && !strings.HasSuffix(e.Name(), indexSuffix) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (c *current) find(r ref) (place, bool) {
	p, ok := c.places[r]
	return p, ok
}

func (c *current) forget(r ref) { delete(c.places, r) }

func (c *current) opened() files.File { return c.file }

// read reads frames up to size.
func (c *current) read(framer framer, size int64) error {
	b := make([]byte, size-c.good)
	n, err := c.file.ReadAt(b, c.good)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	from := c.good
	framer.scan(b[:n], func(start, end int) {
		c.good = from + int64(end)
		if f, ok := decodeFrame(b[start+frameHeader : end]); ok {
			c.places[f.ref] = place{from + int64(start), len(f.content), f.used}
		}
	})
	c.seen = from + int64(n)
	return nil
}

func (j *journal) closeFiles() (err error) {
	if j.current != nil {
		err = j.current.file.Close()
	}
	for _, s := range j.sealed {
		err = errors.Join(err, s.close())
	}
	j.current, j.sealed, j.loaded = nil, nil, false
	return err
}

// closeAll closes the journals; the next look opens those that there are then.
func (j *journal) closeAll() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closeFiles()
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return errors.Join(j.closeFiles(), j.lock.close())
}
