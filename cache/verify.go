package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// VerifyReport describes what Verify found. Names are relative to the store and
// slash-separated ("cas/ab/ab12..."), in order of the walk.
type VerifyReport struct {
	Blobs, Records int64    // checked, including damaged ones
	Corrupt        []string // unreadable files, and files whose content or path does not match their name
	Dangling       []string // valid records with a missing or corrupt blob
}

// Verify reads every blob and every record. With repair, it drops what it reports, and nodes that needed
// it become stale. progress, which can be nil, is called with the number of checked files; Stats returns
// the total. Running work is not disturbed. It needs memory for a shard's names, for the report, and a few
// MiB for a cache of trees.
func (d *Disk) Verify(ctx context.Context, repair bool, progress func(done int64)) (VerifyReport, error) {
	if repair && d.readOnly {
		return VerifyReport{}, fmt.Errorf("verifying store %s: %w", d.dir, ErrReadOnly)
	}
	v := &verifier{disk: d, repair: repair, corruptBlobs: map[[32]byte]bool{}, checkedTrees: map[Digest]bool{}}
	if v.progress = progress; progress == nil {
		v.progress = func(int64) {}
	}
	err := v.eachFile(ctx, casDir, v.blob)
	if err == nil {
		err = v.eachFile(ctx, acDir, v.record)
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

	mu           sync.Mutex
	report       VerifyReport
	corruptBlobs map[[32]byte]bool // corrupt blobs, dropped or not
	checkedTrees map[Digest]bool   // checked trees: complete or not
}

// maxWhole limits the cached trees; beyond it, the cache starts over. Checking a tree twice only takes
// time.
const maxWhole = 1 << 15

// eachFile calls fn for every file under top, with shards in parallel.
func (v *verifier) eachFile(ctx context.Context, top string, fn func(context.Context, storedFile) error) error {
	shards, err := v.disk.shards(top)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	corrupt, dangling := len(v.report.Corrupt), len(v.report.Dangling)
	for _, shard := range shards {
		group.Go(func() error {
			return v.disk.shard(ctx, top, shard, func(s storedFile) error { return fn(ctx, s) })
		})
	}
	err = group.Wait()
	slices.Sort(v.report.Corrupt[corrupt:])
	slices.Sort(v.report.Dangling[dangling:])
	return err
}

// count counts a checked file.
func (v *verifier) count(n *int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	*n++
	v.progress(v.report.Blobs + v.report.Records)
}

func (v *verifier) blob(ctx context.Context, s storedFile) error {
	defer v.count(&v.report.Blobs)
	if s.stray {
		return v.corrupt(s)
	}
	f, err := files.Open(v.disk.files, v.disk.path(filepath.FromSlash(s.name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var g Digest
	if err == nil {
		defer f.Close()
		g, err = sum(ctx, nil, f)
	}
	if err != nil && !isUnyielding(err) {
		return err
	}
	if err == nil && g.Hash == s.hash {
		return nil
	}
	v.mu.Lock()
	v.corruptBlobs[s.hash] = true
	v.mu.Unlock()
	return v.corrupt(s)
}

// isUnyielding reports whether err means that the disk lost data.
func isUnyielding(err error) bool { return errors.Is(err, syscall.EIO) }

func (v *verifier) record(ctx context.Context, s storedFile) error {
	defer v.count(&v.report.Records)
	if s.stray {
		return v.corrupt(s)
	}
	r, err := v.disk.peekRecord(Key(s.hash))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errOtherVersion):
		return nil
	case errors.Is(err, errBadRecord), isUnyielding(err):
		return v.corrupt(s)
	case err != nil:
		return err
	}
	return v.outputs(ctx, r, func() error {
		v.mu.Lock()
		v.report.Dangling = append(v.report.Dangling, s.name)
		v.mu.Unlock()
		return v.remove(s)
	})
}

// outputs calls missing unless all outputs of a record exist and are intact.
func (v *verifier) outputs(ctx context.Context, r *Record, missing func() error) error {
	for _, o := range r.Outputs {
		ok, err := v.complete(ctx, o.Digest, o.Tree)
		if err != nil {
			return err
		}
		if !ok {
			return missing()
		}
	}
	return nil
}

// complete reports whether a blob and, for a tree, all of its content exist and are intact.
func (v *verifier) complete(ctx context.Context, g Digest, tree bool) (bool, error) {
	fi, err := os.Lstat(v.disk.blobPath(g))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	v.mu.Lock()
	bad := v.corruptBlobs[g.Hash]
	ok, known := v.checkedTrees[g]
	v.mu.Unlock()
	switch {
	case err != nil || fi.Size() != g.Size || bad:
		return false, err
	case !tree:
		return true, nil
	case known:
		return ok, nil
	}
	if ok, err = v.treeComplete(ctx, g); err != nil {
		return false, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.checkedTrees) >= maxWhole {
		clear(v.checkedTrees)
	}
	v.checkedTrees[g] = ok
	return ok, nil
}

func (v *verifier) treeComplete(ctx context.Context, g Digest) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	d, err := v.disk.peekDirectory(g.Hash)
	if isUnyielding(err) {
		return false, nil
	}
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

// peekDirectory reads a Directory without noting a use and without dropping it. It returns nil if the blob
// is missing or is not a valid Directory.
func (d *Disk) peekDirectory(hash [32]byte) (*directory, error) {
	path := d.blobPath(Digest{Hash: hash})
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Size() > maxDirectoryBytes {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := files.ReadFile(d.files, path)
	if err != nil || SumBytes(b).Hash != hash {
		return nil, err
	}
	dir, err := decodeDirectory(b)
	if err != nil {
		return nil, nil
	}
	return dir, nil
}

func (v *verifier) corrupt(s storedFile) error {
	v.mu.Lock()
	v.report.Corrupt = append(v.report.Corrupt, s.name)
	v.mu.Unlock()
	return v.remove(s)
}

// remove drops the file that was checked, but not a file that replaced it. File systems reuse identities
// of removed files, so the identity alone is not sufficient.
func (v *verifier) remove(s storedFile) error {
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
