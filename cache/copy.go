package cache

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// copySize is the minimum size in bytes of blobs that are copied by copyBlob.
const copySize = 1 << 20

// copyChunk is the number of bytes copied between checks of the context.
const copyChunk = 64 << 20

// copier is a store that can copy a blob to a file faster than by reading it.
type copier interface {
	// copyBlob writes the blob to an empty file. Errors are the same as for Store.Open.
	copyBlob(ctx context.Context, to *os.File, g Digest) error
}

var (
	_ copier = (*Disk)(nil)
	_ copier = (*Layered)(nil)
)

// copyBlob implements copier. The first copy of a blob is verified. While the
// state of the blob's file is unchanged, the kernel makes further copies: on
// file systems with reflinks (Btrfs, XFS) it shares the blocks, so that a copy
// takes neither time nor space. The file is never linked, so writes to a copy
// do not reach the store.
func (d *Disk) copyBlob(ctx context.Context, to *os.File, g Digest) error {
	if done, err := d.copyVerified(ctx, to, g); done || err != nil {
		return err
	}
	began := callerClock().UnixNano()
	before, known := d.blobState(g)
	r, err := d.Open(ctx, g)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.Copy(struct{ io.Writer }{to}, contextReader{ctx, r}); err != nil {
		return err
	}
	if after, ok := d.blobState(g); ok && known && after == before && after.isSettled(d.blobPath(g), began) {
		d.verified.Store(g, after)
	}
	return nil
}

// copyVerified copies a blob whose file state is unchanged since it was
// verified; otherwise, done is false.
func (d *Disk) copyVerified(ctx context.Context, to *os.File, g Digest) (done bool, err error) {
	verified, ok := d.verified.Load(g)
	if !ok {
		return false, nil
	}
	opened, err := files.Open(d.files, d.blobPath(g))
	if err != nil {
		return false, nil //nolint:nilerr // Open reports the reason
	}
	defer opened.Close()
	from, isFile := opened.(*os.File)
	fi, err := opened.Stat()
	if err != nil || !isFile {
		return false, err
	}
	if now, ok := stateOf(d.blobPath(g), fi); !ok || now != verified {
		d.verified.Delete(g)
		return false, nil
	}
	d.touch(from.Name(), fi)
	for left := g.Size; left > 0; left -= copyChunk {
		if err := context.Cause(ctx); err != nil {
			return false, err
		}
		if _, err := io.CopyN(to, from, min(left, copyChunk)); err != nil {
			return false, fmt.Errorf("copying blob %s: %w", g, err)
		}
	}
	return true, nil
}

func (d *Disk) blobState(g Digest) (fileState, bool) {
	fi, err := os.Lstat(d.blobPath(g))
	if err != nil {
		return fileState{}, false
	}
	return stateOf(d.blobPath(g), fi)
}

// copyBlob implements copier. Blobs of a store without files are copied with Open.
func (l *Layered) copyBlob(ctx context.Context, to *os.File, g Digest) error {
	err := l.Upper.copyBlob(ctx, to, g)
	for _, lower := range l.Lower {
		if !isMissing(err) {
			break
		}
		if disk, ok := lower.(copier); ok {
			err = disk.copyBlob(ctx, to, g)
			continue
		}
		var r io.ReadCloser
		if r, err = lower.Open(ctx, g); err == nil {
			_, err = io.Copy(struct{ io.Writer }{to}, contextReader{ctx, r})
			r.Close()
		}
	}
	return err
}
