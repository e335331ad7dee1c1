package buildlog

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sort"
	"unsafe"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/files"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// index tells where in a build log the last entry of each address is, so that a caller
// that asks for a few of many entries need not read all. It is a file beside the log that
// saves time and nothing else: what it leads to is looked at as closely as what a
// pass over the log finds, and what was appended later is read after it.
type index struct {
	inode uint64 // of the log
	size  int64  // bytes of the log that the index is about
	end   uint32 // CRC-32C of the last of these, up to indexEnd
	table []byte // records
}

// The file is indexMagic, inode, size and end, the records in order, and the
// CRC-32C of all of that. A record of indexRecord bytes is the first eight bytes of
// the SHA-256 of an address, and the offset of its last frame. Numbers are
// little-endian.
const (
	indexMagic  = "fevalgraph-log-index 1\n"
	indexHead   = len(indexMagic) + 8 + 8 + 4
	indexRecord = 8 + 8
	indexEnd    = 4 << 10
)

func hashAddr(addr string) uint64 {
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(addr), len(addr)))
	return binary.LittleEndian.Uint64(sum[:])
}

// find returns the offset of the last frame of an address.
func (x *index) find(addr string) (offset int64, ok bool) {
	hash := hashAddr(addr)
	le := binary.LittleEndian
	at, ok := sort.Find(len(x.table)/indexRecord, func(i int) int { return cmp.Compare(hash, le.Uint64(x.table[i*indexRecord:])) })
	if !ok {
		return 0, false
	}
	return int64(le.Uint64(x.table[at*indexRecord+8:])), true
}

// frameOf is where a frame of an address is.
type frameOf struct {
	hash   uint64
	offset int64
}

// newIndex makes the index of a log that holds these frames and nothing else.
func newIndex(f files.File, size int64, frames []frameOf) (*index, error) {
	x := &index{size: size}
	var err error
	if x.inode, x.end, err = identity(f, size); err != nil {
		return nil, err
	}
	slices.SortFunc(frames, func(a, b frameOf) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.offset, b.offset)) })
	le := binary.LittleEndian
	for i, frame := range frames {
		if i+1 < len(frames) && frames[i+1].hash == frame.hash {
			continue
		}
		x.table = le.AppendUint64(le.AppendUint64(x.table, frame.hash), uint64(frame.offset))
	}
	return x, nil
}

// identity tells logs apart: by their inodes, and by what the first size bytes end
// with.
func identity(f files.File, size int64) (inode uint64, end uint32, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	last := make([]byte, min(size, indexEnd))
	if _, err := f.ReadAt(last, size-int64(len(last))); err != nil {
		return 0, 0, err
	}
	return cache.Inode(info), crc32c(last), nil
}

func (x *index) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, indexHead+len(x.table)+crc32.Size)
	b = le.AppendUint64(append(b, indexMagic...), x.inode)
	b = le.AppendUint32(le.AppendUint64(b, uint64(x.size)), x.end)
	b = append(b, x.table...)
	return le.AppendUint32(b, crc32c(b))
}

// decodeIndex reads what encode returned, and keeps it; nil for anything else.
func decodeIndex(b []byte) *index {
	body := len(b) - crc32.Size
	if body < indexHead || (body-indexHead)%indexRecord != 0 || string(b[:len(indexMagic)]) != indexMagic {
		return nil
	}
	le := binary.LittleEndian
	if crc32c(b[:body]) != le.Uint32(b[body:]) {
		return nil
	}
	head := b[len(indexMagic):]
	return &index{inode: le.Uint64(head), size: int64(le.Uint64(head[8:])), end: le.Uint32(head[16:]), table: b[indexHead:body]}
}

func (l *Log) indexPath() string { return l.path + ".index" }

// indexFor reads the index of the log f; nil when there is none that is about most of
// it.
func (l *Log) indexFor(f files.File) *index {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	// Each record of the index stands for a longer frame of the log: a larger index is none of ours.
	if own, err := os.Lstat(l.indexPath()); err != nil || own.Size() > info.Size()+int64(indexHead)+compactSlack {
		return nil
	}
	b, err := os.ReadFile(l.indexPath())
	if err != nil {
		return nil
	}
	x := decodeIndex(b)
	if x == nil || x.size < 0 {
		return nil
	}
	if info.Size() < x.size || info.Size()-x.size > x.size/8+compactSlack {
		return nil
	}
	if inode, end, err := identity(f, x.size); err != nil || inode != x.inode || end != x.end {
		return nil
	}
	return x
}

// saveIndex writes the index down for the next process that wants a few entries. One that
// cannot be written is not missed.
func (l *Log) saveIndex(f files.File, frames []frameOf) {
	if x, err := newIndex(f, l.size, frames); err == nil {
		_ = atomicfile.Write(l.indexPath(), 0o600, x.encode())
	}
}

// pickIndexed is pick with an index. It is false when that is not about the log as it
// is.
func (l *Log) pickIndexed(f files.File, x *index) (whole bool, err error) {
	for addr := range l.wanted {
		offset, ok := x.find(addr)
		if !ok {
			continue
		}
		frame, err := l.framer.readAt(f, offset)
		if err != nil {
			return false, err
		}
		if frame == nil || offset+int64(len(frame)) > x.size || !l.index(string(frame[frameHeader:])) {
			return false, nil
		}
		if _, found := l.entries[addr]; !found {
			return false, nil // it is another one's
		}
	}
	l.size = x.size
	const toTheEnd = 1 << 62
	return l.framer.stream(io.NewSectionReader(f, x.size, toTheEnd), l.pickFrame)
}
