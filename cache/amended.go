package cache

import (
	"bytes"
	"encoding/binary"
	"sort"
	"time"
	"unsafe"
)

// Amended is a snapshot of many paths of which a few were looked at again later.
// Only what was looked at later has to be written down after that.
type Amended struct {
	first, later *Snapshot
	again        []bool // by record of first: later has that path, too; nil when none is
}

// Amended is s with what later has of the same paths, and of others. Later may be
// nil. S is one that TakeSnapshot took: in another one paths may not be found, and
// then what s has of them must hold, too.
func (s *Snapshot) Amended(later *Snapshot) *Amended {
	a := &Amended{first: s, later: later}
	if later == nil {
		a.later = &Snapshot{}
		return a
	}
	a.again = make([]bool, s.Len())
	for i := range later.Len() {
		r := later.record(i)
		path := later.path(r)
		at := sort.Search(s.Len(), func(i int) bool { return bytes.Compare(s.path(s.record(i)), path) >= 0 })
		for ; at < s.Len() && bytes.Equal(s.path(s.record(at)), path); at++ {
			a.again[at] = a.again[at] || way(s.record(at)) == way(r)
		}
	}
	return a
}

// Later is what was looked at later than the first snapshot was taken, once more
// paths are looked at as TakeSnapshot does.
func (a *Amended) Later(looks []Look, since time.Time) (*Snapshot, error) {
	fresh, err := TakeSnapshot(looks, since)
	if err != nil {
		return nil, err
	}
	return a.later.with(fresh), nil
}

// with is s, with what fresh has in place of what s has of the same paths.
func (s *Snapshot) with(fresh *Snapshot) *Snapshot {
	type look struct {
		path string
		way  uint32
	}
	lookOf := func(s *Snapshot, r []byte) look {
		path := s.path(r)
		return look{unsafe.String(&path[0], len(path)), way(r)} // nobody writes to it
	}
	replaced := make(map[look]bool, fresh.Len())
	for i := range fresh.Len() {
		replaced[lookOf(fresh, fresh.record(i))] = true
	}
	next := &Snapshot{}
	next.take(s, func(r []byte) bool { return !replaced[lookOf(s, r)] })
	next.take(fresh, func([]byte) bool { return true })
	return next
}

// take appends the records of another snapshot that are wanted.
func (s *Snapshot) take(from *Snapshot, wanted func(r []byte) bool) {
	const size = len(Digest{}.Hash)
	le := binary.LittleEndian
	for i := range from.Len() {
		r := from.record(i)
		if !wanted(r) {
			continue
		}
		at := len(s.table)
		s.table = append(s.table, r...)
		le.PutUint32(s.table[at:], uint32(len(s.paths)))
		s.paths = append(s.paths, from.path(r)...)
		if n := le.Uint32(r[4:]); n != noDigest {
			le.PutUint32(s.table[at+4:], uint32(len(s.digests)/size))
			s.digests = append(s.digests, from.digests[int(n)*size:][:size]...)
		}
	}
}

// Len is how many looks are remembered; those that were made again count once.
func (a *Amended) Len() int {
	n := a.first.Len() + a.later.Len()
	for _, again := range a.again {
		n -= boolean(again)
	}
	return n
}

// Without is a without some of its paths. A file is one whose bytes are known.
func (a *Amended) Without(left func(path string, file bool) bool) *Amended {
	return &Amended{first: a.first.without(a.again, left), later: a.later.without(nil, left)}
}

// without is s without some of its paths, and without the records that are again
// somewhere else.
func (s *Snapshot) without(again []bool, left func(path string, file bool) bool) *Snapshot {
	less := &Snapshot{digests: s.digests, paths: s.paths}
	for i := range s.Len() {
		if again != nil && again[i] {
			continue
		}
		r := s.record(i)
		path := s.path(r)
		file := binary.LittleEndian.Uint32(r[4:]) != noDigest && way(r)&lookListing == 0
		if !left(unsafe.String(&path[0], len(path)-1), file) { // nobody writes to it
			less.table = append(less.table, r...)
		}
	}
	return less
}
