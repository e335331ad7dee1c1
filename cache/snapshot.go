package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// UnsettledError reports that the state of a path cannot be recorded: the path was
// changed so recently that another change could go unnoticed.
type UnsettledError struct{ Path string }

func (e *UnsettledError) Error() string { return e.Path + " was changed a moment ago" }

// Snapshot is the recorded state of paths. As long as Changed finds no difference, reading those paths
// again would have the same result. It consists of a table and the text of the paths, used in their
// encoded form, so that checking a hundred thousand paths takes reading a file and one system call per
// path.
type Snapshot struct {
	table   []byte // records of recordSize bytes
	digests []byte // SHA-256, one after the other
	paths   []byte // each ends with a NUL
}

// A record of the table; numbers are little-endian:
//
//	0   path    uint32, offset of its text
//	4   digest  uint32, number of its digest, or noDigest
//	8   flags   uint32: probeFollow ...
//	12  mode    uint32, as the system reports it
//	16  size    int64
//	24  mtime   int64
//	32  ctime   int64
//	40  inode   uint64
//	48  dev     uint64, of the file system: see deviceIdentity
const (
	recordSize   = 56
	probeFollow  = 1
	probeAbsent  = 2
	probeListing = 4 // the digest is that of a listing
	probeExists  = 8
	noDigest     = ^uint32(0)
)

// pathState is the state of one path.
type pathState struct {
	fileState
	mode   uint32
	absent bool
}

// identifies reports whether the inode alone identifies the path's file, regardless of its content. It
// does not for a link, whose target can change.
func (s pathState) identifies() bool { return s.regular() || s.directory() }

// equals reports whether two states are equal in everything that a probe covers.
func (s pathState) equals(o pathState, p Probe) bool {
	return s == o || p.Exists && !s.absent && !o.absent && s.identifies() && s.kind() == o.kind() && s.inode == o.inode && s.dev == o.dev &&
		(s.mode^o.mode)&executable == 0
}

// executable masks the mode bits that permit starting a file or entering a directory.
const executable = 0o111

const (
	snapshotMagic = "fevalgraph-snapshot 3\n"
	// maxSnapshotPaths keeps the offsets of their text within 32 bits.
	maxSnapshotPaths = 1 << 31
)

// probeFlags encodes how a path is probed.
func probeFlags(p Probe) (flags uint32) {
	for _, f := range []struct {
		set bool
		bit uint32
	}{{p.Follow, probeFollow}, {p.Listing, probeListing}, {p.Exists, probeExists}} {
		if f.set {
			flags |= f.bit
		}
	}
	return flags
}

// TakeSnapshot records sightings, each of which must be the present state of its path. A path that changed
// after it was sighted is a *ChangedError; a path that can change without a trace is an *UnsettledError,
// unless its sighting has a digest.
func TakeSnapshot(sightings []Sighting) (*Snapshot, error) {
	s := &Snapshot{}
	for _, one := range uniqueSightings(sightings) {
		if err := s.add(one); err != nil {
			return nil, fmt.Errorf("recording the state of files: %w", err)
		}
	}
	return s, nil
}

// TakeEach records the paths whose state can be recorded, and returns an error for each other path.
func TakeEach(sightings []Sighting) (*Snapshot, []error) {
	s, errs := &Snapshot{}, []error(nil)
	for _, one := range uniqueSightings(sightings) {
		if err := s.add(one); err != nil {
			errs = append(errs, err)
		}
	}
	return s, errs
}

func (s *Snapshot) add(one Sighting) error {
	if one.err != nil {
		return one.err
	}
	if strings.IndexByte(one.Path, 0) >= 0 || len(s.paths) > maxSnapshotPaths {
		return fmt.Errorf("the path %.100q cannot be recorded", one.Path)
	}
	now, err := one.look()
	if err != nil {
		return err
	}
	if !now.equals(one.state, one.Probe) {
		return &ChangedError{Path: one.Path}
	}
	flags, digest := probeFlags(one.Probe), noDigest
	settled := now.absent || one.state.isSettled(one.Path, one.at)
	switch {
	case now.absent:
		flags |= probeAbsent
	case !settled && !(one.Exists && now.identifies()) && !holds(one.Path, now, one.Digest):
		return &UnsettledError{Path: one.Path}
	case one.Listing && now.directory():
		if one.Digest, err = sumListing(one.Path); err != nil {
			return err
		}
	}
	if !one.Digest.IsZero() {
		digest = uint32(len(s.digests) / len(one.Digest.Hash))
		s.digests = append(s.digests, one.Digest.Hash[:]...)
	}
	if !settled {
		now.mtime, now.ctime = 0, 0 // equals no state, so the digest decides each time
	}
	at := len(s.paths)
	s.paths = append(append(s.paths, one.Path...), 0)
	le := binary.LittleEndian
	for _, v := range []uint32{uint32(at), digest, flags, now.mode} {
		s.table = le.AppendUint32(s.table, v)
	}
	for _, v := range []uint64{uint64(now.size), uint64(now.mtime), uint64(now.ctime), now.inode, now.dev} {
		s.table = le.AppendUint64(s.table, v)
	}
	return nil
}

// Len returns the number of paths.
func (s *Snapshot) Len() int { return len(s.table) / recordSize }

// path returns the text of record r, with the NUL at its end.
func (s *Snapshot) path(r []byte) []byte {
	text := s.paths[binary.LittleEndian.Uint32(r):]
	return text[:bytes.IndexByte(text, 0)+1]
}

// Changed returns the first path whose state has changed, or "".
func (s *Snapshot) Changed() string { return s.ChangedBut(func(Probe) bool { return false }) }

// ChangedBut is like Changed, but ignores the probes that the caller excludes.
func (s *Snapshot) ChangedBut(excepted func(Probe) bool) string {
	for i := range s.Len() {
		if r := s.record(i); !s.isUnchanged(r) && !excepted(s.probe(r)) {
			return s.probe(r).Path
		}
	}
	return ""
}

// Probes yields the probes of the snapshot.
func (s *Snapshot) Probes(yield func(Probe) bool) {
	for i := range s.Len() {
		if !yield(s.probe(s.record(i))) {
			return
		}
	}
}

func (s *Snapshot) record(i int) []byte { return s.table[i*recordSize : (i+1)*recordSize] }

// probe returns the probe of a record.
func (s *Snapshot) probe(r []byte) Probe {
	path, flags := s.path(r), binary.LittleEndian.Uint32(r[8:])
	return Probe{Path: string(path[:len(path)-1]), Follow: flags&probeFollow != 0, Listing: flags&probeListing != 0, Exists: flags&probeExists != 0}
}

// isUnchanged compares a record with the present state of its path.
func (s *Snapshot) isUnchanged(r []byte) bool {
	le := binary.LittleEndian
	path, flags := s.path(r), le.Uint32(r[8:])
	now, err := lookAt(path, flags&probeFollow != 0)
	was := pathState{mode: le.Uint32(r[12:]), absent: flags&probeAbsent != 0, fileState: fileState{
		size: int64(le.Uint64(r[16:])), mtime: int64(le.Uint64(r[24:])), ctime: int64(le.Uint64(r[32:])),
		inode: le.Uint64(r[40:]), dev: le.Uint64(r[48:]),
	}}
	if err != nil || now == was {
		return err == nil
	}
	if now.absent || was.absent || now.mode != was.mode && flags&probeExists == 0 {
		return false
	}
	if flags&probeExists != 0 {
		return now.equals(was, Probe{Exists: true})
	}
	n := le.Uint32(r[4:])
	if n == noDigest {
		return false
	}
	d := Digest{Size: was.size}
	copy(d.Hash[:], s.digests[int(n)*len(d.Hash):])
	name := string(path[:len(path)-1])
	if flags&probeListing != 0 {
		listed, err := sumListing(name)
		return err == nil && now.inode == was.inode && now.dev == was.dev && listed.Hash == d.Hash
	}
	return now.dev == was.dev && holds(name, now, d)
}

var errBadSnapshot = errors.New("malformed snapshot")

// Encode returns the saved form of s, which is only valid on this machine. The caller must protect it with
// a checksum.
func (s *Snapshot) Encode() []byte {
	b := []byte(snapshotMagic)
	for _, part := range [][]byte{s.table, s.digests, s.paths} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(part)))
	}
	return append(append(append(b, s.table...), s.digests...), s.paths...)
}

// DecodeSnapshot decodes a result of Encode. It retains b.
func DecodeSnapshot(b []byte) (*Snapshot, error) {
	const header = len(snapshotMagic) + 3*8
	if len(b) < header || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, errBadSnapshot
	}
	rest := b[header:]
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
	if len(rest) > 0 || len(s.table)+len(s.digests)+len(s.paths)+header != len(b) || !s.isValid() {
		return nil, errBadSnapshot
	}
	return s, nil
}

// isValid reports whether every offset in the table is valid.
func (s *Snapshot) isValid() bool {
	const digestSize = len(Digest{}.Hash)
	if len(s.table)%recordSize != 0 || len(s.digests)%digestSize != 0 || len(s.paths) > 0 && s.paths[len(s.paths)-1] != 0 {
		return false
	}
	for i := range s.Len() {
		r := s.table[i*recordSize:]
		path, digest := binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:])
		if int(path) >= len(s.paths) || digest != noDigest && int(digest) >= len(s.digests)/digestSize {
			return false
		}
	}
	return true
}

// isGone reports whether err means that a path does not exist.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) }
