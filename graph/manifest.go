package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
)

// manifestVersion salts every key. A golden test fails if the encoding changes and manifestVersion does
// not.
const manifestVersion = 1

// manifestMagic begins every encoded manifest.
const manifestMagic = "fevalgraph manifest"

// The types of a field. Null, empty and absent are different.
const (
	typeString = 's'
	typeInt    = 'i'
	typeBool   = 'b'
	typeList   = 'l'
	typeDigest = 'd'
	typeNull   = 'n'
)

// Manifest is the labelled list of everything that can change a node's outputs. The same bytes determine
// the key and, decoded and compared with an earlier manifest, the explanation, so the two cannot drift
// apart. Labels are unique within a manifest and make sense to users.
type Manifest struct {
	buf    []byte
	rename *strings.Replacer // of Options
}

// newManifest returns a manifest that is encoded in buf, whose content is overwritten.
func newManifest(kind string, buf []byte) *Manifest {
	m := &Manifest{buf: buf[:0]}
	m.buf = appendBytes(m.buf, manifestMagic)
	m.buf = binary.AppendUvarint(m.buf, manifestVersion)
	m.String("kind", kind)
	return m
}

// String adds a string field.
func (m *Manifest) String(label, value string) {
	m.field(label, typeString)
	m.text(value)
}

// Int adds a number.
func (m *Manifest) Int(label string, value int64) {
	m.field(label, typeInt)
	m.buf = binary.AppendVarint(m.buf, value)
}

// Bool adds a boolean.
func (m *Manifest) Bool(label string, value bool) {
	m.field(label, typeBool)
	if value {
		m.buf = append(m.buf, 1)
	} else {
		m.buf = append(m.buf, 0)
	}
}

// Strings adds a list whose order matters.
func (m *Manifest) Strings(label string, values []string) {
	m.field(label, typeList)
	m.buf = binary.AppendUvarint(m.buf, uint64(len(values)))
	for _, v := range values {
		m.text(v)
	}
}

// Digest adds the identity of content. Only the graph adds outputs of other nodes, so that bundles can
// prove that those nodes exist; tasks of evaluations must not call it.
func (m *Manifest) Digest(label string, d cache.Digest) {
	m.field(label, typeDigest)
	m.buf = append(m.buf, d.Hash[:]...)
	m.buf = binary.AppendVarint(m.buf, d.Size)
}

// Null records that an optional field is unset.
func (m *Manifest) Null(label string) { m.field(label, typeNull) }

func (m *Manifest) field(label string, kind byte) {
	m.text(label)
	m.buf = append(m.buf, kind)
}

func (m *Manifest) text(s string) {
	if m.rename != nil {
		s = m.rename.Replace(s)
	}
	m.buf = appendBytes(m.buf, s)
}

// Key returns the SHA-256 of the encoded manifest.
func (m *Manifest) Key() cache.Key { return sha256.Sum256(m.buf) }

// Bytes returns the encoded manifest; the caller must not change it.
func (m *Manifest) Bytes() []byte { return m.buf }

func appendBytes(buf []byte, s string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(s)))
	return append(buf, s...)
}

// Field is a decoded field of a manifest, with its value in readable form. Outputs of other nodes have
// type Digest; files of a source are strings.
type Field struct {
	Label  string
	Value  string
	Digest bool // added by Manifest.Digest
}

var errTruncated = errors.New("manifest is truncated")

// DecodeManifest reads an encoded manifest. Manifests of another format
// version are an error: their fields can mean something else.
func DecodeManifest(b []byte) ([]Field, error) {
	r := manifestReader{rest: b}
	if r.text() != manifestMagic {
		return nil, errors.New("not a manifest")
	}
	if v := r.uvarint(); v != manifestVersion && r.err == nil {
		return nil, fmt.Errorf("the manifest has format version %d, want %d", v, manifestVersion)
	}
	var fields []Field
	for len(r.rest) > 0 && r.err == nil {
		f := Field{Label: r.text(), Digest: len(r.rest) > 0 && r.rest[0] == typeDigest}
		f.Value = r.value()
		fields = append(fields, f)
	}
	return fields, r.err
}

type manifestReader struct {
	rest []byte
	err  error
}

func (r *manifestReader) take(n uint64) []byte {
	if r.err == nil && n > uint64(len(r.rest)) {
		r.err = errTruncated
	}
	if r.err != nil {
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *manifestReader) uvarint() uint64 { return readVarint(r, binary.Uvarint) }

func (r *manifestReader) varint() int64 { return readVarint(r, binary.Varint) }

// readVarint reads a number with one of binary's decoders; 0 after an error.
func readVarint[N int64 | uint64](r *manifestReader, decode func([]byte) (N, int)) N {
	v, n := decode(r.rest)
	if r.err == nil && n <= 0 {
		r.err = errTruncated
	}
	if r.err != nil {
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *manifestReader) text() string { return string(r.take(r.uvarint())) }

func (r *manifestReader) value() string {
	kind := r.take(1)
	if r.err != nil {
		return ""
	}
	switch kind[0] {
	case typeString:
		return r.text()
	case typeInt:
		return strconv.FormatInt(r.varint(), 10)
	case typeBool:
		b := r.take(1)
		return strconv.FormatBool(r.err == nil && b[0] == 1)
	case typeList:
		return r.list()
	case typeDigest:
		var d cache.Digest
		copy(d.Hash[:], r.take(uint64(len(d.Hash))))
		d.Size = r.varint()
		return d.String()
	case typeNull:
		return "null"
	}
	r.err = fmt.Errorf("manifest has a field of unknown type %q", kind[0])
	return ""
}

func (r *manifestReader) list() string {
	n := r.uvarint()
	if n > uint64(len(r.rest)) { // every element takes at least one byte
		r.err = errTruncated
	}
	var items []string
	for i := uint64(0); i < n && r.err == nil; i++ {
		items = append(items, strconv.Quote(r.text()))
	}
	return "[" + strings.Join(items, ", ") + "]"
}
