package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// UnsettledError says that a path cannot be remembered: it was changed so
// recently that another change could go unnoticed.
type UnsettledError struct{ Path string }

func (e *UnsettledError) Error() string { return e.Path + " was changed a moment ago" }

// Snapshot is the state of many paths at one time: what is there, or that
// nothing is. Equal states mean that whatever was read from those paths would
// be read again. It is a table and the text of the paths, which are used as
// they stand in a file: a hundred thousand of them cost no more than reading
// it and asking for as many states.
type Snapshot struct {
	table   []byte // records of lookSize bytes
	digests []byte // SHA-256, one after the other
	paths   []byte // each ends with a NUL
}

// A record of the table; numbers are little-endian:
//
//	0   path    uint32, offset of its text
//	4   digest  uint32, number of its digest, or noDigest
//	8   flags   uint32: lookFollow ...
//	12  mode    uint32, as the system has it
//	16  size    int64
//	24  mtime   int64
//	32  ctime   int64
//	40  inode   uint64
//	48  dev     uint64
const (
	lookSize    = 56
	lookFollow  = 1
	lookAbsent  = 2
	lookListing = 4 // the digest is of a listing
	lookExists  = 8
	noDigest    = ^uint32(0)
)

// seen is what one path looks like.
type seen struct {
	fileState
	mode   uint32
	absent bool
}

// identifies reports whether the inode tells what is there, whatever it holds.
// What a link leads to may change with nothing else.
func (s seen) identifies() bool { return s.regular() || s.directory() }

const (
	snapshotMagic = "fevalgraph-snapshot 2\n"
	// maxSnapshotPaths keeps the offsets of their text within 32 bits.
	maxSnapshotPaths = 1 << 31
)

// TakeSnapshot looks at every path. Since is a time before the first of them
// was read: one that may have been changed after it is an *UnsettledError,
// unless its Digest shows that it was not.
func TakeSnapshot(looks []Look, since time.Time) (*Snapshot, error) {
	s := &Snapshot{}
	for _, l := range normalLooks(looks) {
		if err := s.add(l, since.UnixNano()); err != nil {
			return nil, fmt.Errorf("remembering the state of files: %w", err)
		}
	}
	return s, nil
}

func (s *Snapshot) add(l Look, since int64) error {
	if strings.IndexByte(l.Path, 0) >= 0 || len(s.paths) > maxSnapshotPaths {
		return fmt.Errorf("the path %.100q cannot be remembered", l.Path)
	}
	at, flags, digest := len(s.paths), uint32(0), noDigest
	if l.Follow {
		flags |= lookFollow
	}
	if l.Exists {
		flags |= lookExists
	}
	s.paths = append(append(s.paths, l.Path...), 0)
	now, err := lookAt(s.paths[at:], l.Follow)
	if err != nil {
		return err
	}
	settled := l.Young || now.stableAt(since)
	switch {
	case now.absent:
		flags |= lookAbsent
	case !settled && !(l.Exists && now.identifies()) && !holds(l.Path, now, l.Digest):
		return &UnsettledError{Path: l.Path}
	case l.Listing:
		flags |= lookListing
		if l.Digest, err = sumListing(l.Path); err != nil {
			return err
		}
	}
	if !l.Digest.IsZero() {
		digest = uint32(len(s.digests) / len(l.Digest.Hash))
		s.digests = append(s.digests, l.Digest.Hash[:]...)
		if now.size != l.Digest.Size && !l.Listing {
			return &ChangedError{Path: l.Path}
		}
	}
	if !settled {
		now.mtime, now.ctime = 0, 0 // no state is like it: the bytes decide each time
	}
	le := binary.LittleEndian
	for _, v := range []uint32{uint32(at), digest, flags, now.mode} {
		s.table = le.AppendUint32(s.table, v)
	}
	for _, v := range []uint64{uint64(now.size), uint64(now.mtime), uint64(now.ctime), now.inode, now.dev} {
		s.table = le.AppendUint64(s.table, v)
	}
	return nil
}

// Len is the number of paths.
func (s *Snapshot) Len() int { return len(s.table) / lookSize }

// path is the text of record r, with the NUL at its end.
func (s *Snapshot) path(r []byte) []byte {
	text := s.paths[binary.LittleEndian.Uint32(r):]
	return text[:bytes.IndexByte(text, 0)+1]
}

// Record i of the table.
func (s *Snapshot) record(i int) []byte { return s.table[i*lookSize : (i+1)*lookSize] }

// look compares a record with what is there. A file is a regular one, and was
// one, whose bytes are known.
func (s *Snapshot) look(r []byte) (same, file bool) {
	le := binary.LittleEndian
	path, flags := s.path(r), le.Uint32(r[8:])
	now, err := lookAt(path, flags&lookFollow != 0)
	was := seen{mode: le.Uint32(r[12:]), absent: flags&lookAbsent != 0, fileState: fileState{
		size: int64(le.Uint64(r[16:])), mtime: int64(le.Uint64(r[24:])), ctime: int64(le.Uint64(r[32:])),
		inode: le.Uint64(r[40:]), dev: le.Uint64(r[48:]),
	}}
	switch {
	case err != nil:
		return false, false
	case now == was:
		return true, false
	case now.absent || was.absent:
		return false, false
	case flags&lookExists != 0:
		return was.identifies() && now.kind() == was.kind() && now.inode == was.inode && now.dev == was.dev, false
	}
	n := int(le.Uint32(r[4:]))
	if n == int(noDigest) {
		return false, false
	}
	d := Digest{Size: was.size}
	copy(d.Hash[:], s.digests[n*len(d.Hash):])
	name := string(path[:len(path)-1])
	if flags&lookListing != 0 {
		listed, err := sumListing(name)
		return err == nil && now.kind() == was.kind() && now.inode == was.inode && now.dev == was.dev && listed.Hash == d.Hash, false
	}
	if now.mode == was.mode && holds(name, now, d) {
		return true, false
	}
	return false, now.regular() && was.regular()
}

var errBadSnapshot = errors.New("malformed snapshot")

// Parts are the saved form of s, which is all of them one after the other; it is of
// this machine's making and for it, and ends with a checksum. They share memory
// with s.
func (s *Snapshot) Parts() [][]byte {
	head := []byte(snapshotMagic)
	for _, part := range [][]byte{s.table, s.digests, s.paths} {
		head = binary.LittleEndian.AppendUint64(head, uint64(len(part)))
	}
	parts := [][]byte{head, s.table, s.digests, s.paths}
	return append(parts, binary.LittleEndian.AppendUint32(nil, crc32c(parts...)))
}

// DecodeSnapshot reads what Parts are, and nothing else; it keeps b.
func DecodeSnapshot(b []byte) (*Snapshot, error) {
	const header = len(snapshotMagic) + 3*8
	if len(b) < header+4 || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, errBadSnapshot
	}
	body := len(b) - 4
	if crc32c(b[:body]) != binary.LittleEndian.Uint32(b[body:]) {
		return nil, errBadSnapshot
	}
	rest := b[header:body]
	take := func(n uint64) []byte {
		if n > uint64(len(rest)) {
			rest = nil
			return nil
		}
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	sizes := b[len(snapshotMagic):]
	s := &Snapshot{}
	s.table = take(binary.LittleEndian.Uint64(sizes))
	s.digests = take(binary.LittleEndian.Uint64(sizes[8:]))
	s.paths = take(binary.LittleEndian.Uint64(sizes[16:]))
	if len(rest) > 0 || len(s.table)+len(s.digests)+len(s.paths)+header+4 != len(b) || !s.sound() {
		return nil, errBadSnapshot
	}
	return s, nil
}

// sound reports whether every offset of the table is one.
func (s *Snapshot) sound() bool {
	const digestSize = len(Digest{}.Hash)
	if len(s.table)%lookSize != 0 || len(s.digests)%digestSize != 0 || len(s.paths) > 0 && s.paths[len(s.paths)-1] != 0 {
		return false
	}
	for i := range s.Len() {
		r := s.table[i*lookSize:]
		path, digest := binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:])
		if int(path) >= len(s.paths) || digest != noDigest && int(digest) >= len(s.digests)/digestSize {
			return false
		}
	}
	return true
}

// isGone reports whether err says that nothing is at a path.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) }
