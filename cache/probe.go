package cache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Probe names a path and which part of its state matters.
type Probe struct {
	Path string // absolute
	// Follow looks at the target of a symbolic link instead of the link.
	Follow bool
	// Listing means that only the names and kinds of a directory's entries matter. A link to a directory is
	// followed.
	Listing bool
	// Exists means that only the kind, the identity and the executable bits of a path matter, not the content.
	Exists bool
}

// Sighting is the state of a path at one time. A caller takes it before it reads the path; a snapshot
// later compares it with the state after reading, so that a file that was replaced in between is never
// recorded as the file that was read.
type Sighting struct {
	Probe
	// Digest is the digest of a regular file as it was read; zero for anything else. It decides if the state
	// proves nothing.
	Digest Digest
	state  pathState
	at     int64 // nanoseconds since 1970, before the state was taken
	err    error
}

// Sight takes the state of a path. Errors are reported by TakeSnapshot.
func (p Probe) Sight() Sighting {
	p.Follow = p.Follow || p.Listing
	s := Sighting{Probe: p, at: callerClock().UnixNano()}
	s.state, s.err = p.look()
	return s
}

// Err returns why the path could not be examined. A missing path is not an error.
func (s Sighting) Err() error { return s.err }

// Before returns the sighting for a caller that might have read the path as early as at the given time.
func (s Sighting) Before(at time.Time) Sighting {
	s.at = min(s.at, at.UnixNano())
	return s
}

// SightFile returns a sighting of a regular file whose state the caller read into info at a time before it
// hashed the file to d.
func SightFile(path string, info fs.FileInfo, at time.Time, d Digest) Sighting {
	s := Sighting{Probe: Probe{Path: path}, Digest: d, at: at.UnixNano()}
	s.state, s.err = seenOf(path, info)
	return s
}

func (p Probe) look() (pathState, error) {
	return lookAt(append([]byte(p.Path), 0), p.Follow)
}

func compareSightings(a, b Sighting) int {
	return cmp.Or(
		strings.Compare(a.Path, b.Path),
		slices.Compare(b.Digest.Hash[:], a.Digest.Hash[:]), // those with a digest come first
		cmp.Compare(probeFlags(a.Probe), probeFlags(b.Probe)),
		cmp.Compare(a.at, b.at),
	)
}

// uniqueSightings returns sightings in order, the first of each probe. The earliest state of a path is
// kept, so that a change between sightings is detected.
func uniqueSightings(all []Sighting) []Sighting {
	all = slices.Clone(all)
	slices.SortFunc(all, compareSightings)
	hashed := "" // the last path with a digest
	return slices.CompactFunc(slices.DeleteFunc(all, func(s Sighting) bool {
		if !s.Digest.IsZero() {
			hashed = s.Path
		}
		return s.Exists && hashed == s.Path
	}), func(a, b Sighting) bool {
		return a.Probe == b.Probe && a.Digest == b.Digest && a.state == b.state && a.err == nil && b.err == nil
	})
}

// sumListing returns the digest of the names and kinds of a directory's entries.
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

// kindByte encodes the kind of a file.
func kindByte(mode fs.FileMode) byte {
	kinds := [...]fs.FileMode{0, fs.ModeDir, fs.ModeSymlink, fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice}
	return byte(1 + slices.Index(kinds[:], mode.Type()))
}

// holds reports whether the regular file at path has the content of want, and did not change while it was
// read.
func holds(path string, now pathState, want Digest) bool {
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
