// Package proof proves who wrote a file. A project can come from elsewhere with all files that fevalgraph would
// keep in it, so only files that are proven by a key outside of the project count. The package does not know
// where keys are stored and what files mean.
package proof

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// Key makes and checks proofs.
type Key []byte

// NewKey derives a key for one use from a secret. It rejects proofs for other uses.
func NewKey(secret []byte, use string) (Key, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, use, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of %s: %w", use, err)
	}
	return key, nil
}

// Of returns the proof of a text, given in parts whose boundaries count.
func (k Key) Of(parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, k)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// Proves reports whether proof is the proof of a text.
func (k Key) Proves(proof []byte, parts ...[]byte) bool { return hmac.Equal(proof, k.Of(parts...)) }

// Place seals the files of a directory, such as a project's state directory. Files that were sealed at
// another place, under another name or with another key are treated as missing. The zero Place has no key:
// it only detects damage, and accepts files of any writer. It is for directories that only the user can
// write.
type Place struct {
	dir     string // absolute
	key     Key
	foreign func(path string)
}

// At returns the Place of a directory, whose real path is part of the key. foreign is called for undamaged
// files without a valid proof.
func At(key Key, dir string, foreign func(path string)) Place {
	dir = absolute(dir)
	real := dir
	for rest, parent := "", real; ; parent = filepath.Dir(parent) { // it may not exist yet
		if found, err := filepath.EvalSymlinks(parent); err == nil {
			real = filepath.Join(found, rest)
			break
		}
		if parent == filepath.Dir(parent) {
			break
		}
		rest = filepath.Join(filepath.Base(parent), rest)
	}
	return Place{dir: dir, key: key.Of([]byte("place\x00" + real)), foreign: foreign}
}

// Key returns the key for a file whose parts are sealed separately.
func (p Place) Key(path string) Key { return p.key.Of(p.name(path)) }

// Foreign reports a file to the callback of At.
func (p Place) Foreign(path string) {
	if p.foreign != nil {
		p.foreign(path)
	}
}

// name returns the text that binds a proof to the name of a file.
func (p Place) name(path string) []byte {
	path = absolute(path)
	if rel, err := filepath.Rel(p.dir, path); err == nil {
		path = rel
	}
	return []byte("file\x00" + filepath.ToSlash(path) + "\x00")
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// A sealed file is a line and its content. The line consists of magic, the content's length in decimal, its
// SHA-256 and the proof of both. Content without proof is not read.
const (
	magic   = "fevalgraph-sealed 2 "
	longest = len(magic) + 20 + 1 + 2*sha256.Size + 1 + 2*sha256.Size + 1 // of the line
)

// Seal returns content after a line by which Unseal recognizes it.
func (p Place) Seal(path string, content []byte) []byte {
	sum := sha256.Sum256(content)
	b := make([]byte, 0, longest+len(content))
	b = strconv.AppendInt(append(b, magic...), int64(len(content)), 10)
	b = hex.AppendEncode(append(b, ' '), sum[:])
	b = append(b, ' ')
	b = hex.AppendEncode(b, p.key.Of(p.name(path), b[:len(b)-1]))
	return append(append(b, '\n'), content...)
}

// Unseal returns the sealed content; ok is false if b is not validly sealed.
func (p Place) Unseal(path string, b []byte) (content []byte, ok bool) {
	content = p.unseal(path, bytes.NewReader(b), int64(len(b)))
	return content, content != nil
}

// Read returns the content of a sealed file, or nil if the file is missing or invalid.
func (p Place) Read(path string) []byte {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() { // opening a pipe would block
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return p.unseal(path, f, info.Size())
}

// Write writes a sealed file atomically.
func (p Place) Write(path string, mode fs.FileMode, content []byte) error {
	return atomicfile.Write(path, mode, p.Seal(path, content))
}

// unseal reads a sealed file of a size, or returns nil. It reports a foreign file.
func (p Place) unseal(path string, r io.ReaderAt, size int64) []byte {
	head := make([]byte, min(size, int64(longest)))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil
	}
	line, _, ended := bytes.Cut(head, []byte("\n"))
	rest, is := bytes.CutPrefix(line, []byte(magic))
	words := bytes.Split(rest, []byte(" "))
	if !ended || !is || len(words) != 3 {
		return nil
	}
	length, err := strconv.ParseInt(string(words[0]), 10, 64)
	if err != nil || strconv.FormatInt(length, 10) != string(words[0]) || length != size-int64(len(line)+1) {
		return nil
	}
	if said := hex.AppendEncode(nil, p.key.Of(p.name(path), line[:len(line)-len(words[2])-1])); !hmac.Equal(said, words[2]) {
		p.Foreign(path)
		return nil
	}
	content := make([]byte, length)
	if _, err := r.ReadAt(content, int64(len(line)+1)); err != nil && err != io.EOF {
		return nil
	}
	if sum := sha256.Sum256(content); string(hex.AppendEncode(nil, sum[:])) != string(words[1]) {
		return nil
	}
	return content
}
