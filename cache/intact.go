package cache

import (
	"context"
	"io"
)

// Intact reads every blob that an output consists of and reports whether all exist and match their digests.
// A store drops a damaged blob when it is read, so making the output again after a false answer repairs
// everything that could be reached. The content of a damaged directory is checked only once the directory is
// back.
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
