package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// sealMagic begins a sealed text; the SHA-256 of what follows the line ends it.
const sealMagic = "fevalgraph-sealed 1 "

// Seal returns content with a line before it by which Unseal tells whether it is
// whole. It is for small files of state that have no checksum of their own.
func Seal(content []byte) []byte {
	sum := sha256.Sum256(content)
	b := make([]byte, 0, len(sealMagic)+2*len(sum)+1+len(content))
	b = hex.AppendEncode(append(b, sealMagic...), sum[:])
	return append(append(b, '\n'), content...)
}

// Unseal returns what was sealed; ok is false when b is anything else.
func Unseal(b []byte) (content []byte, ok bool) {
	_, content, found := bytes.Cut(b, []byte("\n"))
	if !found || !bytes.Equal(b, Seal(content)) {
		return nil, false
	}
	return content, true
}
