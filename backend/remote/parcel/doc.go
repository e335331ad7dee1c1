// Package parcel carries directories from one machine to another: everything in a workspace that a command
// left and the next command can see. A tree of the Remote Execution API cannot hold that: modes, times, hard
// links, FIFOs, names that are not text, paths that are longer than a system call takes.
//
// A parcel is an Index, which lists what is there, and pieces: blobs of bounded size, as a server can refuse
// large ones, which contain file after file. A file whose content the other machine has, in an earlier piece
// or in an input, is packed as a reference. So only changes travel.
//
// It does not send pieces, and never follows a symbolic link. A damaged index or piece is an error; nothing
// outside of the directory is written.
package parcel

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
)

// PieceSize is the size of a piece, in bytes, but for the last one.
const PieceSize = 4 << 20

// small is the size of files, in bytes, that share pieces with others: a caller that reads
// one of them fetches little else.
const small = 256 << 10

// Kind is the type of an entry.
type Kind uint8

// The kinds.
const (
	File Kind = iota
	Directory
	Symlink
	FIFO
	HardLink // to Target, an earlier entry
	Socket   // at which nothing listens any more
)

// Entry is a file of a parcel.
type Entry struct {
	Path   string // slash-separated, relative; any bytes
	Kind   Kind
	Mode   uint32 // permissions, with the set-uid, set-gid and sticky bits of the system
	Time   int64  // of the last change, in nanoseconds since 1970
	Target string // of a Symlink, or of a HardLink
	Digest cache.Digest
	// Piece is the piece in which the content begins, at At; it continues in the pieces that follow. -1
	// means that the content is not part of the parcel: the other machine has it by its digest.
	Piece int
	At    int64
}

// Index lists the entries of a parcel, directories before their content.
type Index struct {
	Entries []Entry
	Pieces  []cache.Digest
	// Omitted counts the bytes of files, and the entries, that were too much to be carried.
	OmittedBytes   int64
	OmittedEntries int
}

// Encode returns the index as bytes, which Decode reads.
func (x *Index) Encode() ([]byte, error) { return frozen.Append(nil, x) }

// Decode reads an index. An error is one of the machine that wrote it.
func Decode(text []byte) (*Index, error) {
	x := &Index{}
	if err := frozen.Decode(string(text), x); err != nil {
		return nil, fmt.Errorf("reading what a command left: %w", err)
	}
	return x, nil
}

// Find returns the entry at a path, or nil.
func (x *Index) Find(path string) *Entry {
	for i := range x.Entries {
		if x.Entries[i].Path == path {
			return &x.Entries[i]
		}
	}
	return nil
}

// Options say what of directories is packed.
type Options struct {
	Parts []string // names of the directories, below the packed directory
	// Before is the parcel that was unpacked there; nil means none.
	Before *Index
	// Known reports whether the other machine has a content by its digest.
	// KnownSize reports whether any of these has a size.
	Known     func(cache.Digest) bool
	KnownSize func(int64) bool
	// Limit bounds the bytes of all unknown files together; files beyond it are omitted. 0 means no limit.
	Limit int64
}
