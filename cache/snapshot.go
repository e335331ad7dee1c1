package cache

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Look is a path to remember the state of.
type Look struct {
	Path string // absolute
	// Follow is to see what a link at the path leads to, and not the link.
	Follow bool
	// Digest, when it is not zero, is what the regular file at the path held
	// when it was read: its bytes decide when its state does not.
	Digest Digest
	// Young allows for a path that was changed a moment ago, of which a change
	// that follows at once may go unnoticed.
	Young bool
}

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
//	8   flags   uint32: lookFollow, lookAbsent
//	12  mode    uint32, as the system has it
//	16  size    int64
//	24  mtime   int64
//	32  ctime   int64
//	40  inode   uint64
//	48  dev     uint64
const (
	lookSize   = 56
	lookFollow = 1
	lookAbsent = 2
	noDigest   = ^uint32(0)
)

// seen is what one path looks like.
type seen struct {
	fileState
	mode   uint32
	absent bool
}

const (
	snapshotMagic = "fevalgraph-snapshot 1\n"
	// maxSnapshotPaths keeps the offsets of their text within 32 bits.
	maxSnapshotPaths = 1 << 31
)

// TakeSnapshot looks at every path. Since is a time before the first of them
// was read: one that may have been changed after it is an *UnsettledError,
// unless its Digest shows that it was not.
func TakeSnapshot(looks []Look, since time.Time) (*Snapshot, error) {
	looks = slices.Clone(looks)
	slices.SortFunc(looks, func(a, b Look) int {
		follow := 0
		if a.Follow != b.Follow {
			follow = 1
			if b.Follow {
				follow = -1
			}
		}
		// Those with a digest come first, and are kept.
		return cmp.Or(strings.Compare(a.Path, b.Path), follow, bytes.Compare(b.Digest.Hash[:], a.Digest.Hash[:]))
	})
	looks = slices.CompactFunc(looks, func(a, b Look) bool {
		return a.Path == b.Path && a.Follow == b.Follow && (b.Digest.IsZero() || a.Digest == b.Digest)
	})
	s := &Snapshot{}
	for _, l := range looks {
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
	s.paths = append(append(s.paths, l.Path...), 0)
	now, err := lookAt(s.paths[at:], l.Follow)
	if err != nil {
		return err
	}
	switch {
	case now.absent:
		flags |= lookAbsent
	case !l.Young && !now.stableAt(since) && !holds(l.Path, now, l.Digest):
		return &UnsettledError{Path: l.Path}
	}
	if !l.Digest.IsZero() {
		digest = uint32(len(s.digests) / len(l.Digest.Hash))
		s.digests = append(s.digests, l.Digest.Hash[:]...)
		if now.size != l.Digest.Size {
			return &ChangedError{Path: l.Path}
		}
	}
	if !l.Young && !now.stableAt(since) {
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

// holds reports whether the regular file at path has the bytes of want now,
// and did not change while it was read.
func holds(path string, now seen, want Digest) bool {
	if want.IsZero() || now.size != want.Size {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil || !before.Mode().IsRegular() {
		return false
	}
	got, err := sum(context.Background(), nil, f)
	return err == nil && got == want
}

// Len is the number of paths.
func (s *Snapshot) Len() int { return len(s.table) / lookSize }

// path is the text of record r, with the NUL at its end.
func (s *Snapshot) path(r []byte) []byte {
	text := s.paths[binary.LittleEndian.Uint32(r):]
	return text[:bytes.IndexByte(text, 0)+1]
}

// snapshotChunk is how many paths a worker takes at a time.
const snapshotChunk = 256

// Changed looks at every path again, as many at once as there are processors,
// and returns one that is not as it was, or "" when all are.
func (s *Snapshot) Changed(ctx context.Context) string {
	var next atomic.Int64
	var found atomic.Pointer[string]
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), s.Len()/snapshotChunk+1) {
		group.Go(func() {
			for found.Load() == nil && ctx.Err() == nil {
				from := int(next.Add(snapshotChunk)) - snapshotChunk
				if from >= s.Len() {
					return
				}
				if path, same := s.look(from, min(from+snapshotChunk, s.Len())); !same {
					found.Store(&path)
				}
			}
		})
	}
	group.Wait()
	if p := found.Load(); p != nil {
		return *p
	}
	if ctx.Err() != nil {
		return "(interrupted)"
	}
	return ""
}

// look compares records from and up to to with what is there.
func (s *Snapshot) look(from, to int) (changed string, same bool) {
	le := binary.LittleEndian
	for i := from; i < to; i++ {
		r := s.table[i*lookSize : (i+1)*lookSize]
		path, flags := s.path(r), le.Uint32(r[8:])
		now, err := lookAt(path, flags&lookFollow != 0)
		was := seen{mode: le.Uint32(r[12:]), absent: flags&lookAbsent != 0, fileState: fileState{
			size: int64(le.Uint64(r[16:])), mtime: int64(le.Uint64(r[24:])), ctime: int64(le.Uint64(r[32:])),
			inode: le.Uint64(r[40:]), dev: le.Uint64(r[48:]),
		}}
		if err != nil || now != was && !s.sameBytes(r, string(path[:len(path)-1]), was, now) {
			return string(path[:len(path)-1]), false
		}
	}
	return "", true
}

// sameBytes lets the bytes of a file decide whose state is another one.
func (s *Snapshot) sameBytes(r []byte, path string, was, now seen) bool {
	n := binary.LittleEndian.Uint32(r[4:])
	if n == noDigest || now.absent || now.mode != was.mode || now.size != was.size {
		return false
	}
	d := Digest{Size: was.size}
	copy(d.Hash[:], s.digests[int(n)*len(d.Hash):])
	return holds(path, now, d)
}

var errBadSnapshot = errors.New("malformed snapshot")

// AppendTo appends the saved form of s, which is of this machine's
// making and for it, and ends with a checksum.
func (s *Snapshot) AppendTo(b []byte) []byte {
	start := len(b)
	b = append(b, snapshotMagic...)
	for _, part := range [][]byte{s.table, s.digests, s.paths} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(part)))
	}
	b = append(append(append(b, s.table...), s.digests...), s.paths...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], crc32.MakeTable(crc32.Castagnoli)))
}

// DecodeSnapshot reads what AppendTo wrote, and nothing else; it keeps b.
func DecodeSnapshot(b []byte) (*Snapshot, error) {
	const header = len(snapshotMagic) + 3*8
	if len(b) < header+4 || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, errBadSnapshot
	}
	body := len(b) - 4
	if crc32.Checksum(b[:body], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(b[body:]) {
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
