package cache

import (
	"context"
	"io"
)

// Intact reads every blob of an output and reports whether all exist and match their digests. The store
// drops damaged blobs when they are read, so producing the output again after a false result repairs all
// of them, except blobs below a damaged directory, which are only checked when the directory has been
// restored.
func Intact(ctx context.Context, s Store, o Output) bool {
	if o.Tree {
		return treeIntact(ctx, s, o.Digest, map[Digest]bool{})
	}
	return blobIntact(ctx, s, o.Digest)
}

func treeIntact(ctx context.Context, s Store, g Digest, seen map[Digest]bool) bool {
	if seen[g] {
		return true
	}
	seen[g] = true
	d, err := readDirectory(ctx, s, g)
	if err != nil {
		return false
	}
	intact := true
	for _, f := range d.files {
		if !seen[f.digest] {
			seen[f.digest] = true
			intact = blobIntact(ctx, s, f.digest) && intact
		}
	}
	for _, sub := range d.dirs {
		intact = treeIntact(ctx, s, sub.digest, seen) && intact
	}
	return intact
}

func blobIntact(ctx context.Context, s Store, g Digest) bool {
	r, err := s.Open(ctx, g)
	if err != nil {
		return false
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err == nil
}
