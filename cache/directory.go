package cache

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// directory contains the used fields of
// build.bazel.remote.execution.v2.Directory. Each list is sorted bytewise by
// name, and names are unique across all lists. It is encoded as a protocol
// buffer with fields in numeric order and without default values, so that
// equal directories have equal bytes here and in every other implementation.
type directory struct {
	files []fileNode
	dirs  []dirNode
	links []linkNode
}

type fileNode struct {
	name       string
	digest     Digest
	executable bool
}

type dirNode struct {
	name   string
	digest Digest
}

type linkNode struct{ name, target string }

// Field numbers of the messages in remote_execution.proto.
const (
	directoryFiles protowire.Number = 1
	directoryDirs  protowire.Number = 2
	directoryLinks protowire.Number = 3

	nodeName       protowire.Number = 1
	nodeDigest     protowire.Number = 2
	nodeExecutable protowire.Number = 4
	linkTarget     protowire.Number = 2

	digestHash protowire.Number = 1
	digestSize protowire.Number = 2
)

// maxDirectoryBytes limits the encoding of a directory: about 600,000 files.
const maxDirectoryBytes = 64 << 20

func (d *directory) encode() []byte {
	var out, msg []byte
	for _, f := range d.files {
		msg = appendString(msg[:0], nodeName, f.name)
		msg = appendDigest(msg, f.digest)
		if f.executable {
			msg = protowire.AppendTag(msg, nodeExecutable, protowire.VarintType)
			msg = protowire.AppendVarint(msg, 1)
		}
		out = appendMessage(out, directoryFiles, msg)
	}
	for _, s := range d.dirs {
		msg = appendString(msg[:0], nodeName, s.name)
		out = appendMessage(out, directoryDirs, appendDigest(msg, s.digest))
	}
	for _, l := range d.links {
		msg = appendString(msg[:0], nodeName, l.name)
		out = appendMessage(out, directoryLinks, appendString(msg, linkTarget, l.target))
	}
	return out
}

func appendMessage(b []byte, n protowire.Number, msg []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), msg)
}

func appendString(b []byte, n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

func appendDigest(b []byte, d Digest) []byte {
	msg := appendString(nil, digestHash, d.Hex())
	if d.Size != 0 {
		msg = protowire.AppendTag(msg, digestSize, protowire.VarintType)
		msg = protowire.AppendVarint(msg, uint64(d.Size))
	}
	return appendMessage(b, nodeDigest, msg)
}

// decodeDirectory decodes a Directory from an untrusted source. It skips
// unknown fields, such as node properties. Names that could lead out of the
// directory, names out of order and malformed digests are errors.
func decodeDirectory(b []byte) (*directory, error) {
	d := new(directory)
	err := eachField(b, func(n protowire.Number, v fieldValue) error {
		switch n {
		case directoryFiles:
			f, err := decodeFileNode(v)
			d.files = append(d.files, f)
			return err
		case directoryDirs:
			s, err := decodeDirNode(v)
			d.dirs = append(d.dirs, s)
			return err
		case directoryLinks:
			l, err := decodeLinkNode(v)
			d.links = append(d.links, l)
			return err
		}
		return nil
	})
	if err == nil {
		err = d.eachName(func(int, nameKind) error { return nil })
	}
	if err != nil {
		return nil, fmt.Errorf("malformed directory: %w", err)
	}
	return d, nil
}

// nameKind identifies the list of a directory that contains a name.
type nameKind int

const (
	fileName nameKind = iota
	dirName
	linkName
)

// eachName calls fn with the list and index of each name, in the order of
// names across the three lists. Duplicate names, or names out of order, are an
// error.
func (d *directory) eachName(fn func(i int, kind nameKind) error) error {
	last := ""
	for f, s, l := 0, 0, 0; f < len(d.files) || s < len(d.dirs) || l < len(d.links); {
		var name string
		kind := nameKind(-1)
		consider := func(candidate string, k nameKind) {
			if kind < 0 || candidate < name {
				name, kind = candidate, k
			}
		}
		if f < len(d.files) {
			consider(d.files[f].name, fileName)
		}
		if s < len(d.dirs) {
			consider(d.dirs[s].name, dirName)
		}
		if l < len(d.links) {
			consider(d.links[l].name, linkName)
		}
		if name <= last { // no name is empty
			return fmt.Errorf("name %q is duplicated or out of order", name)
		}
		last = name
		var err error
		switch kind {
		case fileName:
			err = fn(f, kind)
			f++
		case dirName:
			err = fn(s, kind)
			s++
		case linkName:
			err = fn(l, kind)
			l++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func decodeFileNode(v fieldValue) (f fileNode, err error) {
	err = v.message(func(n protowire.Number, v fieldValue) (err error) {
		switch n {
		case nodeName:
			f.name, err = v.text()
		case nodeDigest:
			f.digest, err = decodeDigest(v)
		case nodeExecutable:
			var x uint64
			x, err = v.varint()
			f.executable = x != 0
		}
		return err
	})
	return f, errors.Join(err, checkName(f.name), checkDigest(f.digest))
}

func decodeDirNode(v fieldValue) (s dirNode, err error) {
	err = v.message(func(n protowire.Number, v fieldValue) (err error) {
		switch n {
		case nodeName:
			s.name, err = v.text()
		case nodeDigest:
			s.digest, err = decodeDigest(v)
		}
		return err
	})
	return s, errors.Join(err, checkName(s.name), checkDigest(s.digest))
}

func decodeLinkNode(v fieldValue) (l linkNode, err error) {
	err = v.message(func(n protowire.Number, v fieldValue) (err error) {
		switch n {
		case nodeName:
			l.name, err = v.text()
		case linkTarget:
			l.target, err = v.text()
		}
		return err
	})
	return l, errors.Join(err, checkName(l.name), checkTarget(l.target))
}

func decodeDigest(v fieldValue) (d Digest, err error) {
	err = v.message(func(n protowire.Number, v fieldValue) error {
		switch n {
		case digestHash:
			s, err := v.text()
			if err != nil {
				return err
			}
			if len(s) != hex.EncodedLen(len(d.Hash)) || s != strings.ToLower(s) {
				return fmt.Errorf("bad hash %q", s)
			}
			_, err = hex.Decode(d.Hash[:], []byte(s))
			return err
		case digestSize:
			x, err := v.varint()
			d.Size = int64(x)
			return err
		}
		return nil
	})
	return d, err
}

func checkDigest(d Digest) error {
	if d.Hash == (Digest{}).Hash || d.Size < 0 {
		return errors.New("missing or malformed digest")
	}
	return nil
}

// checkName returns an error unless name can be the name of a directory entry.
func checkName(s string) error {
	switch {
	case s == "", s == ".", s == "..", strings.ContainsAny(s, "/\x00"):
		return fmt.Errorf("bad name %q", s)
	case !utf8.ValidString(s):
		return fmt.Errorf("name %q is not UTF-8", s)
	}
	return nil
}

func checkTarget(s string) error {
	if s == "" || strings.Contains(s, "\x00") || !utf8.ValidString(s) {
		return fmt.Errorf("bad symlink target %q", s)
	}
	return nil
}

// fieldValue is an encoded field of a message.
type fieldValue struct {
	kind protowire.Type
	raw  []byte
}

func (v fieldValue) text() (string, error) {
	b, n := protowire.ConsumeBytes(v.raw)
	if v.kind != protowire.BytesType || n < 0 {
		return "", errors.New("field is not a string")
	}
	return string(b), nil
}

func (v fieldValue) varint() (uint64, error) {
	x, n := protowire.ConsumeVarint(v.raw)
	if v.kind != protowire.VarintType || n < 0 {
		return 0, errors.New("field is not a number")
	}
	return x, nil
}

func (v fieldValue) message(fn func(protowire.Number, fieldValue) error) error {
	b, n := protowire.ConsumeBytes(v.raw)
	if v.kind != protowire.BytesType || n < 0 {
		return errors.New("field is not a message")
	}
	return eachField(b, fn)
}

func eachField(b []byte, fn func(protowire.Number, fieldValue) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		n = protowire.ConsumeFieldValue(num, kind, b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := fn(num, fieldValue{kind, b[:n]}); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
