package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// VerifyReport says what Verify found. Names are relative to the store and
// slash-separated ("cas/ab/ab12..."), in order of the walk.
type VerifyReport struct {
	Blobs, Records int64    // looked at, bad ones included
	Corrupt        []string // files whose content or place is not what their name says
	Dangling       []string // sound records of which a blob is missing or corrupt
}

// Verify reads every blob and every record. With repair it drops what it
// reports; nodes that needed it become stale. progress (nil: none) is told
// the number of files done so far; Stats tells how many there are. Running
// work is not disturbed.
func (d *Disk) Verify(ctx context.Context, repair bool, progress func(done int64)) (VerifyReport, error) {
	if repair && d.readOnly {
		return VerifyReport{}, fmt.Errorf("verifying store %s: %w", d.dir, ErrReadOnly)
	}
	v := &verifier{disk: d, repair: repair, bad: map[[32]byte]bool{}, whole: map[Digest]bool{}}
	if v.progress = progress; progress == nil {
		v.progress = func(int64) {}
	}
	err := d.each(ctx, casDir, func(f stored) error { return v.blob(ctx, f) })
	if err == nil {
		err = d.each(ctx, acDir, func(f stored) error { return v.record(ctx, f) })
	}
	if err != nil {
		return v.report, fmt.Errorf("verifying store %s: %w", d.dir, err)
	}
	return v.report, nil
}

type verifier struct {
	disk     *Disk
	repair   bool
	progress func(int64)
	report   VerifyReport
	bad      map[[32]byte]bool // corrupt blobs, dropped or not
	whole    map[Digest]bool   // trees already looked through: complete or not
}

func (v *verifier) blob(ctx context.Context, s stored) error {
	defer func() { v.progress(v.report.Blobs + v.report.Records) }()
	v.report.Blobs++
	if s.stray {
		return v.corrupt(s)
	}
	f, err := files.Open(v.disk.files, v.disk.path(filepath.FromSlash(s.name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := sum(ctx, nil, f)
	if err != nil {
		return err
	}
	if g.Hash == s.hash {
		return nil
	}
	v.bad[s.hash] = true
	return v.corrupt(s)
}

func (v *verifier) record(ctx context.Context, s stored) error {
	defer func() { v.progress(v.report.Blobs + v.report.Records) }()
	v.report.Records++
	if s.stray {
		return v.corrupt(s)
	}
	r, err := v.disk.peekRecord(Key(s.hash))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errForeignRecord):
		return nil
	case errors.Is(err, errBadRecord):
		return v.corrupt(s)
	case err != nil:
		return err
	}
	for _, o := range r.Outputs {
		ok, err := v.complete(ctx, o.Digest, o.Tree)
		if err != nil {
			return err
		}
		if !ok {
			v.report.Dangling = append(v.report.Dangling, s.name)
			return v.remove(s)
		}
	}
	return nil
}

// complete reports whether the blob and, for a tree, all that it names is
// there and sound.
func (v *verifier) complete(ctx context.Context, g Digest, tree bool) (bool, error) {
	fi, err := os.Lstat(v.disk.blobPath(g))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || fi.Size() != g.Size || v.bad[g.Hash] {
		return false, err
	}
	if !tree {
		return true, nil
	}
	if ok, known := v.whole[g]; known {
		return ok, nil
	}
	ok, err := v.treeComplete(ctx, g)
	v.whole[g] = ok
	return ok, err
}

func (v *verifier) treeComplete(ctx context.Context, g Digest) (bool, error) {
	d, err := v.disk.peekDirectory(ctx, g)
	if err != nil || d == nil {
		return false, err
	}
	for _, f := range d.files {
		if ok, err := v.complete(ctx, f.digest, false); !ok {
			return false, err
		}
	}
	for _, sub := range d.dirs {
		if ok, err := v.complete(ctx, sub.digest, true); !ok {
			return false, err
		}
	}
	return true, nil
}

// peekDirectory reads a Directory without noting a use and without dropping
// anything. It is nil when the blob is gone or is not a sound Directory.
func (d *Disk) peekDirectory(ctx context.Context, g Digest) (*directory, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if g.Size > maxDirectoryBytes {
		return nil, nil
	}
	b, err := files.ReadFile(d.files, d.blobPath(g))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || SumBytes(b) != g {
		return nil, err
	}
	dir, err := decodeDirectory(b)
	if err != nil {
		return nil, nil
	}
	return dir, nil
}

func (v *verifier) corrupt(s stored) error {
	v.report.Corrupt = append(v.report.Corrupt, s.name)
	return v.remove(s)
}

// remove drops the very file that was judged, not one that replaced it; and as
// file systems reuse the identity of a removed file, that alone does not tell.
func (v *verifier) remove(s stored) error {
	if !v.repair {
		return nil
	}
	if s.info.IsDir() {
		return os.RemoveAll(v.disk.path(filepath.FromSlash(s.name)))
	}
	_, err := v.disk.remove(v.disk.path(filepath.FromSlash(s.name)), func(fi fs.FileInfo) bool {
		return os.SameFile(fi, s.info) && fi.Size() == s.info.Size() && fi.ModTime().Equal(s.info.ModTime())
	})
	return err
}
