package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"sort"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// The index of a sealed journal tells where frames are, so that nobody has to read
// all of it:
//
//	0    mark     refsMark
//	16   ends     256 times uint32, little-endian: how many entries have a hash
//	              that begins with this byte or a lower one
//	1040 entries  in order of hash and kind: hash, kind, and uint32 where the
//	              frame begins and how long its content is
//
// It has no checksum: a frame says itself what it is, and what an index does not
// lead to is not there.
const (
	refsMark = "fevalgraph-idx 1"
	refsHead = len(refsMark) + 256*4
	refEntry = 32 + 1 + 4 + 4
)

// maxIndexed is how much of an index is read at a time, in entries: as hashes are
// spread evenly, that is all for most of them.
const maxIndexed = 64

func compareRefs(a, b ref) int {
	if c := bytes.Compare(a.hash[:], b.hash[:]); c != 0 {
		return c
	}
	return int(a.kind) - int(b.kind)
}

func encodeRefs(places map[ref]place) []byte {
	b := append(make([]byte, 0, refsHead+len(places)*refEntry), refsMark...)
	var ends [256]uint32
	refs := slices.SortedFunc(maps.Keys(places), compareRefs)
	for _, r := range refs {
		ends[r.hash[0]]++
	}
	total := uint32(0)
	for _, n := range ends {
		total += n
		b = binary.LittleEndian.AppendUint32(b, total)
	}
	for _, r := range refs {
		b = append(append(b, r.hash[:]...), byte(r.kind))
		b = binary.LittleEndian.AppendUint32(b, uint32(places[r].at))
		b = binary.LittleEndian.AppendUint32(b, uint32(places[r].size))
	}
	return b
}

// sealed is a journal that is never written again.
type sealed struct {
	file      files.File
	index     io.ReaderAt
	ends      [256]int64
	forgotten map[ref]bool
}

var errNoRefs = errors.New("not the index of a journal")

// openSealed opens a journal. One without a sound index is read as a whole.
func openSealed(j *journal, name string) (*sealed, error) {
	file, err := files.Open(j.disk.files, j.path(name))
	if err != nil {
		return nil, err
	}
	s := &sealed{file: file, forgotten: map[ref]bool{}}
	if err := s.openIndex(j.disk.files, j.path(name+indexSuffix)); err == nil {
		return s, nil
	}
	info, err := file.Stat()
	c := &current{file: file, places: map[ref]place{}}
	if err == nil {
		err = c.read(j.framer, info.Size())
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.index = bytes.NewReader(encodeRefs(c.places))
	return s, s.readEnds(int64(refsHead + len(c.places)*refEntry))
}

func (s *sealed) openIndex(system files.System, path string) error {
	f, err := files.Open(system, path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	s.index = f
	if err == nil {
		err = s.readEnds(info.Size())
	}
	if err != nil {
		s.index = nil
		return errors.Join(err, f.Close())
	}
	return nil
}

// readEnds reads the head of an index of size bytes.
func (s *sealed) readEnds(size int64) error {
	var head [refsHead]byte
	if _, err := s.index.ReadAt(head[:], 0); err != nil {
		return err
	}
	last := int64(0)
	for i := range s.ends {
		s.ends[i] = int64(binary.LittleEndian.Uint32(head[len(refsMark)+4*i:]))
		if s.ends[i] < last {
			return errNoRefs
		}
		last = s.ends[i]
	}
	if string(head[:len(refsMark)]) != refsMark || size != int64(refsHead)+last*int64(refEntry) {
		return errNoRefs
	}
	return nil
}

func (s *sealed) opened() files.File { return s.file }

func (s *sealed) forget(r ref) { s.forgotten[r] = true }

// find looks for r among the entries whose hashes begin as its does, first about
// where it is if those are spread evenly.
func (s *sealed) find(r ref) (place, bool) {
	if s.forgotten[r] {
		return place{}, false
	}
	first, end := int64(0), s.ends[r.hash[0]]
	if r.hash[0] > 0 {
		first = s.ends[r.hash[0]-1]
	}
	at := first + (end-first)*int64(binary.BigEndian.Uint16(r.hash[1:]))>>16 - maxIndexed/2
	for first < end {
		at = max(first, min(at, end-maxIndexed))
		var buffer [maxIndexed * refEntry]byte
		b := buffer[:min(maxIndexed, end-at)*int64(refEntry)]
		if _, err := s.index.ReadAt(b, int64(refsHead)+at*int64(refEntry)); err != nil {
			return place{}, false
		}
		n := len(b) / refEntry
		switch {
		case compareRefs(r, entryRef(b, 0)) < 0:
			end = at
		case compareRefs(r, entryRef(b, n-1)) > 0:
			first = at + int64(n)
		default:
			return s.among(b, r)
		}
		at = (first+end)/2 - maxIndexed/2
	}
	return place{}, false
}

func entryRef(b []byte, i int) ref {
	b = b[i*refEntry:]
	return ref{kind(b[32]), [32]byte(b)}
}

// among looks for r in sorted entries.
func (s *sealed) among(b []byte, r ref) (place, bool) {
	n := len(b) / refEntry
	i := sort.Search(n, func(i int) bool { return compareRefs(entryRef(b, i), r) >= 0 })
	if i == n || entryRef(b, i) != r {
		return place{}, false
	}
	b = b[i*refEntry+32+1:]
	p := place{at: int64(binary.LittleEndian.Uint32(b)), size: int(binary.LittleEndian.Uint32(b[4:]))}
	return p, s.confirm(r, &p)
}

// confirm looks at the head of the frame, which says when it was used.
func (s *sealed) confirm(r ref, p *place) bool {
	var head [frameHeader + frameHead]byte
	if _, err := s.file.ReadAt(head[:], p.at); err != nil {
		return false
	}
	f, ok := decodeFrame(head[frameHeader:])
	p.used = f.used
	return ok && f.ref == r && binary.LittleEndian.Uint32(head[4:]) == uint32(frameHead+p.size)
}

func (s *sealed) close() error {
	err := s.file.Close()
	if index, ok := s.index.(io.Closer); ok {
		err = errors.Join(err, index.Close())
	}
	return err
}
