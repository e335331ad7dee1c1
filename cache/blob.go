package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// ChangedError reports that a file did not have the expected content, or changed while it was read.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("file %s changed while it was being read", e.Path)
}

// Sum returns the digest of the content of r.
func Sum(ctx context.Context, r io.Reader) (Digest, error) { return sum(ctx, nil, r) }

// sum copies r to w, which can be nil, and returns the digest of the content.
func sum(ctx context.Context, w io.Writer, r io.Reader) (Digest, error) {
	h := sha256.New()
	var dst io.Writer = h
	if w != nil {
		dst = io.MultiWriter(h, w)
	}
	buffer := sumBuffers.Get().(*[sumBuffer]byte)
	defer sumBuffers.Put(buffer)
	n, err := io.CopyBuffer(dst, contextReader{ctx, r}, buffer[:])
	if err != nil {
		return Digest{}, err
	}
	return Digest{Hash: [sha256.Size]byte(h.Sum(nil)), Size: n}, nil
}

// sumBuffer is the number of bytes that are read and hashed at a time: enough to make the system call
// cheap, and few enough to stay in the processor's cache.
const sumBuffer = 128 << 10

var sumBuffers = sync.Pool{New: func() any { return new([sumBuffer]byte) }}

func (d *Disk) blobPath(g Digest) string { return d.shardPath(casDir, g.Hex()) }

// Put implements Store. Memory use does not depend on the blob's size. The error for a full disk matches
// syscall.ENOSPC.
func (d *Disk) Put(ctx context.Context, r io.Reader) (Digest, error) {
	g, err := d.put(ctx, r, nil)
	if err != nil {
		return Digest{}, fmt.Errorf("storing blob: %w", err)
	}
	return g, nil
}

// put stores the content of r unless check, which can be nil, refuses its digest.
func (d *Disk) put(ctx context.Context, r io.Reader, check func(Digest) error) (Digest, error) {
	if d.readOnly {
		return Digest{}, ErrReadOnly
	}
	buffer := smallBlobs.Get().(*[smallBlob]byte)
	defer smallBlobs.Put(buffer)
	n, err := io.ReadFull(contextReader{ctx, r}, buffer[:])
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return d.putSmall(buffer[:n], check)
	case err != nil:
		return Digest{}, err
	}
	r = io.MultiReader(bytes.NewReader(buffer[:]), r)
	f, err := d.createTemp("blob")
	if err != nil {
		return Digest{}, err
	}
	g, err := sum(ctx, f, r)
	if err == nil && check != nil {
		err = check(g)
	}
	if err == nil && d.isPresent(g) {
		f.Close()
		d.files.Remove(f.Name())
		return g, nil
	}
	// No fsync: every read verifies, so a blob torn by power loss is detected and only lost.
	return g, d.publish(f, d.blobPath(g), err)
}

// smallBlob is the size in bytes below which a blob is held in memory.
const smallBlob = 64 << 10

var smallBlobs = sync.Pool{New: func() any { return new([smallBlob]byte) }}

// putSmall stores b. If the blob exists, such as the empty output of most commands, it creates no file.
func (d *Disk) putSmall(b []byte, check func(Digest) error) (Digest, error) {
	g := SumBytes(b)
	if check != nil {
		if err := check(g); err != nil {
			return Digest{}, err
		}
	}
	if d.isPresent(g) {
		return g, nil
	}
	return g, d.writeFile(d.blobPath(g), b)
}

// isPresent reports whether the blob exists and will not be collected soon. A blob of the wrong size was
// torn by power loss and counts as missing.
func (d *Disk) isPresent(g Digest) bool {
	path := d.blobPath(g)
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Size() == g.Size && d.touch(path, fi)
}

// PutFile stores the regular file path. If the content does not match want or, with a nil want, the file
// changed while it was read, it stores nothing and returns a *ChangedError.
func (d *Disk) PutFile(ctx context.Context, path string, want *Digest) (Digest, error) {
	g, err := d.putFile(ctx, path, want)
	if err != nil {
		return Digest{}, fmt.Errorf("storing file: %w", err)
	}
	return g, nil
}

func (d *Disk) putFile(ctx context.Context, path string, want *Digest) (Digest, error) {
	if d.readOnly {
		return Digest{}, ErrReadOnly
	}
	src, err := openSource(path)
	if err != nil {
		return Digest{}, err
	}
	defer src.Close()
	check := func(g Digest) error { return src.check(g, want) }
	if want != nil && d.isPresent(*want) { // nothing to write, only check
		g, err := sum(ctx, nil, src)
		if err == nil {
			err = check(g)
		}
		return g, err
	}
	return d.put(ctx, src, check)
}

// source is an open regular file, with its state when it was opened.
type source struct {
	*os.File
	before fs.FileInfo
}

func openSource(path string) (*source, error) {
	// Check first, since opening a FIFO would block.
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	fi, err = f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &source{f, fi}, nil
}

// check checks the digest g of s, as PutFile documents.
func (s *source) check(g Digest, want *Digest) error {
	if want != nil {
		if g != *want {
			return &ChangedError{Path: s.Name()}
		}
		return nil
	}
	after, err := s.Stat()
	if err != nil {
		return err
	}
	if g.Size != after.Size() || after.Size() != s.before.Size() || !after.ModTime().Equal(s.before.ModTime()) {
		return &ChangedError{Path: s.Name()}
	}
	return nil
}

// Has implements Store. It counts as a use.
func (d *Disk) Has(ctx context.Context, g Digest) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	path := d.blobPath(g)
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking up blob %s: %w", g, err)
	}
	if !d.touch(path, fi) {
		// It might have been removed before the use was noted.
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
	}
	return fi.Mode().IsRegular() && fi.Size() == g.Size, nil
}

// Open implements Store. It counts as a use.
func (d *Disk) Open(ctx context.Context, g Digest) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	path := d.blobPath(g)
	f, err := files.Open(d.files, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{Digest: g}
	}
	if err != nil {
		return nil, fmt.Errorf("opening blob %s: %w", g, err)
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening blob %s: %w", g, err)
	}
	if fi.Size() != g.Size {
		defer f.Close()
		return nil, d.openMisfit(ctx, g, f, fi)
	}
	d.touch(path, fi)
	return &verifyingReader{f: f, want: g, hash: sha256.New(), drop: func() { d.drop(path, fi) }}, nil
}

// openMisfit distinguishes a torn blob from a digest with a wrong size, so that a wrong digest cannot
// destroy a good blob.
func (d *Disk) openMisfit(ctx context.Context, g Digest, f files.File, fi fs.FileInfo) error {
	found, err := sum(ctx, nil, f)
	if err != nil {
		return fmt.Errorf("opening blob %s: %w", g, err)
	}
	if found.Hash == g.Hash {
		return &MissingError{Digest: g}
	}
	d.drop(f.Name(), fi)
	return &CorruptError{Digest: g}
}

// drop removes the damaged file that the caller has open, but not a good file that has replaced it. A
// failure is harmless: the next reader will refuse the file.
func (d *Disk) drop(path string, bad fs.FileInfo) {
	_, _ = d.remove(path, func(fi fs.FileInfo) bool { return os.SameFile(fi, bad) })
}

// verifyingReader hashes a blob while it is read and checks the digest at the end.
type verifyingReader struct {
	f    io.ReadCloser
	want Digest
	hash hash.Hash
	n    int64
	drop func()
	err  error // sticky result at the end
}

func (v *verifyingReader) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.f.Read(p)
	v.hash.Write(p[:n])
	v.n += int64(n)
	if err == nil {
		return n, nil
	}
	if err == io.EOF && (Digest{Hash: [sha256.Size]byte(v.hash.Sum(nil)), Size: v.n}) != v.want {
		v.drop()
		err = &CorruptError{Digest: v.want}
	}
	v.err = err
	return n, err
}

func (v *verifyingReader) Close() error { return v.f.Close() }
