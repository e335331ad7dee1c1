package buildlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Entry is what the build log remembers of a node: the last answer that
// was stored for it, and whether the last attempt broke. With Broken set the
// other fields still describe the last good answer; Key is zero if there was
// none.
type Entry struct {
	Addr     string
	Key      cache.Key // names the record, which has the manifest
	Class    cache.Class
	Outputs  []cache.Output
	Message  string
	Attempts int
	Seconds  float64
	Run      string // id of the run that made the answer
	Broken   string // why the last attempt broke; empty if it did not
	Store    string // ID of the store that the answer is in; empty in entries of old logs
}

// entryVersion is the first byte of an encoded entry.
const entryVersion = 1

var errBadEntry = errors.New("malformed build log entry")

// appendEntry appends the encoded form of e to b. Text becomes valid UTF-8 on
// the way, so that none of it can hold the mark that begins a frame.
func appendEntry(b []byte, e *Entry) ([]byte, error) {
	if e.Addr == "" {
		return nil, errors.New("entry has no address")
	}
	if e.Key.IsZero() != (e.Class == "") || e.Class != "" && !e.Class.Stored() {
		return nil, fmt.Errorf("entry of %s: class %q does not fit its key", e.Addr, e.Class)
	}
	b = append(b, entryVersion)
	b = appendText(b, e.Addr)
	b = append(b, e.Key[:]...)
	b = appendEntryDigest(b, cache.Digest{}) // unused: once, the manifest had a digest of its own
	b = appendText(b, string(e.Class))
	b = binary.AppendUvarint(b, uint64(len(e.Outputs)))
	for _, o := range e.Outputs {
		b = appendText(b, o.Name)
		b = appendEntryDigest(b, o.Digest)
		tree := byte(0)
		if o.Tree {
			tree = 1
		}
		b = append(b, tree)
	}
	b = appendText(b, e.Message)
	b = binary.AppendVarint(b, int64(e.Attempts))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e.Seconds))
	b = appendText(b, e.Run)
	b = appendText(b, e.Broken)
	return appendText(b, e.Store), nil
}

func appendText(b []byte, s string) []byte {
	s = strings.ToValidUTF8(s, "\uFFFD")
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendEntryDigest(b []byte, d cache.Digest) []byte {
	b = append(b, d.Hash[:]...)
	return binary.AppendVarint(b, d.Size)
}

// entryAddr returns the address of an encoded entry.
func entryAddr(s string) (string, error) {
	r := entryReader{rest: s}
	if r.byte() != entryVersion {
		return "", errBadEntry
	}
	addr := r.text()
	if r.bad || addr == "" {
		return "", errBadEntry
	}
	return addr, nil
}

// decodeEntry reads what appendEntry wrote. Strings of the entry share memory
// with s.
func decodeEntry(s string) (Entry, error) {
	r := entryReader{rest: s}
	if r.byte() != entryVersion {
		return Entry{}, errBadEntry
	}
	var e Entry
	e.Addr = r.text()
	copy(e.Key[:], r.take(len(e.Key)))
	r.digest()
	e.Class = cache.Class(r.text())
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		o := cache.Output{Name: r.text(), Digest: r.digest()}
		o.Tree = r.byte() == 1
		e.Outputs = append(e.Outputs, o)
	}
	e.Message = r.text()
	e.Attempts = int(r.varint())
	e.Seconds = math.Float64frombits(r.uint64())
	e.Run = r.text()
	e.Broken = r.text()
	if r.rest != "" { // entries of old logs end here
		e.Store = r.text()
	}
	if r.bad || r.rest != "" || e.Addr == "" {
		return Entry{}, errBadEntry
	}
	return e, nil
}

// entryReader takes an encoded entry apart. After the first field that is not
// there it is bad and yields zeros.
type entryReader struct {
	rest string
	bad  bool
}

func (r *entryReader) take(n int) string {
	if n < 0 || n > len(r.rest) {
		r.bad = true
		r.rest = ""
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *entryReader) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *entryReader) uvarint() uint64 {
	var buf [binary.MaxVarintLen64]byte
	x, n := binary.Uvarint(buf[:copy(buf[:], r.rest)])
	if n <= 0 {
		n = -1
	}
	r.take(n)
	return x
}

func (r *entryReader) varint() int64 {
	x := r.uvarint()
	return int64(x>>1) ^ -int64(x&1) // zigzag, as binary.AppendVarint writes it
}

func (r *entryReader) uint64() uint64 {
	var buf [8]byte
	copy(buf[:], r.take(8))
	return binary.LittleEndian.Uint64(buf[:])
}

func (r *entryReader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		n = math.MaxUint64
	}
	return r.take(int(n))
}

func (r *entryReader) digest() (d cache.Digest) {
	copy(d.Hash[:], r.take(len(d.Hash)))
	d.Size = r.varint()
	return d
}
