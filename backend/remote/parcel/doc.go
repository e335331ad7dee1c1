// Package parcel carries directories from one machine to another: everything in a workspace that the next
// command can see. A tree of the Remote Execution API cannot represent all of it: modes, times, hard
// links, FIFOs, names that are not text, paths that are too long for a system call.
//
// A parcel consists of an Index, which lists the files, and pieces, which contain one file after another.
// The size of pieces is limited, since a server can refuse large blobs. If the other machine has the
// content of a file, in an earlier piece or in an input, the file is packed as a reference, so only
// changes are transferred.
//
// It does not send pieces, and never follows a symbolic link. A damaged index or piece is an error; nothing
// outside of the directory is written.
package parcel

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
)

// PieceSize is the size in bytes of all pieces but the last.
const PieceSize = 4 << 20

// smallFile is the maximum size in bytes of files that share pieces with others, so that a caller that reads
// one of them fetches little else.
const smallFile = 256 << 10

// Kind is the type of an entry.
type Kind uint8

// The kinds.
const (
	File Kind = iota
	Directory
	Symlink
	FIFO
	HardLink // to Target, an earlier entry
	Socket   // at which no process listens any more
)

// Entry is a file of a parcel.
type Entry struct {
	Path   string // slash-separated, relative; any bytes
	Kind   Kind
	Mode   uint32 // permissions and set-uid, set-gid and sticky bits, encoded as by the system
	Time   int64  // of the last change, in nanoseconds since 1970
	Target string // of a Symlink, or of a HardLink
	Digest cache.Digest
	// Piece is the number of the piece where the content begins, at offset At; it continues in the next
	// pieces. -1 means that the parcel does not contain it, because the other machine has content with this
	// digest.
	Piece int
	At    int64
}

// Index lists the entries of a parcel, directories before their content.
type Index struct {
	Entries []Entry
	Pieces  []cache.Digest
	// OmittedBytes and Omitted count the bytes and entries beyond the limits.
	OmittedBytes   int64
	OmittedEntries int
}

// Encode returns the index as bytes, which Decode reads.
func (x *Index) Encode() ([]byte, error) { return frozen.Append(nil, x) }

// Decode reads an index. An error means that the machine that wrote it failed.
func Decode(text []byte) (*Index, error) {
	x := &Index{}
	if err := frozen.Decode(text, x); err != nil {
		return nil, fmt.Errorf("reading the state that a command left: %w", err)
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

// Options selects the content to pack.
type Options struct {
	Parts []string // names of the directories, below the packed directory
	// Before is the parcel that was unpacked there; nil means none.
	Before *Index
	// Known reports whether the other machine has the content with a digest, and KnownSize whether it has any
	// content of a size.
	Known     func(cache.Digest) bool
	KnownSize func(int64) bool
	// Limit limits the total bytes of unknown files; files beyond it are omitted. 0 means no limit.
	Limit int64
}
