package cache

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Look is a path to remember the state of.
type Look struct {
	Path string // absolute
	// Follow is to see what a link at the path leads to, and not the link.
	Follow bool
	// Digest, when it is not zero, is what the regular file at the path held
	// when it was read: its bytes decide when its state does not.
	Digest Digest
	// Listing is of a directory of which only the names and kinds of what is in
	// it matter: they decide when its state does not.
	Listing bool
	// Exists is of a path of which only the kind and identity of what is there
	// matters, not what that holds. A look with a digest says as much.
	Exists bool
	// Young allows for a path that was changed a moment ago, of which a change
	// that follows at once may go unnoticed.
	Young bool
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareLooks(a, b Look) int {
	return cmp.Or(
		strings.Compare(a.Path, b.Path),
		bytes.Compare(b.Digest.Hash[:], a.Digest.Hash[:]), // those with a digest come first
		cmp.Compare(boolean(a.Follow), boolean(b.Follow)),
		cmp.Compare(boolean(a.Listing), boolean(b.Listing)),
		cmp.Compare(boolean(a.Exists), boolean(b.Exists)),
		cmp.Compare(boolean(a.Young), boolean(b.Young)),
	)
}

// normalLooks are looks sorted, each once, without those that say no more than
// another one does.
func normalLooks(looks []Look) []Look {
	looks = slices.Clone(looks)
	slices.SortFunc(looks, compareLooks)
	known := "" // the last path with a digest
	return slices.CompactFunc(slices.DeleteFunc(looks, func(l Look) bool {
		if !l.Digest.IsZero() {
			known = l.Path
		}
		return l.Exists && known == l.Path
	}), func(a, b Look) bool { return a == b })
}

// sumListing returns the digest of the names and kinds of what is in a directory.
func sumListing(path string) (Digest, error) {
	entries, err := os.ReadDir(path) // sorted
	if err != nil {
		return Digest{}, err
	}
	h := sha256.New()
	for _, e := range entries {
		h.Write([]byte(e.Name()))
		h.Write([]byte{0, kindByte(e.Type())})
	}
	d := Digest{Size: int64(len(entries))}
	h.Sum(d.Hash[:0])
	return d, nil
}

// kindByte tells kinds of files apart.
func kindByte(mode fs.FileMode) byte {
	kinds := [...]fs.FileMode{0, fs.ModeDir, fs.ModeSymlink, fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice}
	return byte(1 + slices.Index(kinds[:], mode.Type()))
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
