package cache

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// shardCount is the number of directories for blobs, and for records.
const shardCount = 256

// storedFile is a visible file of a store.
type storedFile struct {
	name string // relative to the store, slash-separated: "cas/ab/ab12..."
	hash [32]byte
	// stray reports that the file is not at the path for its name.
	stray bool
	info  fs.FileInfo
}

// lastUse returns when its last use was noted, in nanoseconds since 1970.
func (s storedFile) lastUse() int64 { return s.info.ModTime().UnixNano() }

// eachFile calls fn for every file under top ("cas" or "ac"), in order of name.
// One shard's names are in memory at a time. It omits files that vanish
// meanwhile, and treats a missing store as empty.
func (d *Disk) eachFile(ctx context.Context, top string, fn func(storedFile) error) error {
	shards, err := d.shards(top)
	for _, shard := range shards {
		if err == nil {
			err = d.shard(ctx, top, shard, fn)
		}
	}
	return err
}

// shards returns the names of the directories under top, sorted.
func (d *Disk) shards(top string) ([]string, error) {
	entries, err := readDir(d.path(top))
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// shard calls fn for the files of a shard, as each does for all.
func (d *Disk) shard(ctx context.Context, top, shard string, fn func(storedFile) error) error {
	entries, err := readDir(d.path(top, shard))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s := storedFile{name: path.Join(top, shard, e.Name()), info: info}
		n, err := hex.Decode(s.hash[:], []byte(e.Name()[:min(len(e.Name()), hex.EncodedLen(len(s.hash)))]))
		s.stray = err != nil || n != len(s.hash) || !info.Mode().IsRegular() ||
			d.shardPath(top, hex.EncodeToString(s.hash[:])) != d.path(filepath.FromSlash(s.name))
		if err := fn(s); err != nil {
			return err
		}
	}
	return nil
}

// eachPart calls fn for every possible first byte of a hash, concurrently.
func eachPart(ctx context.Context, fn func(ctx context.Context, part byte) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for part := range shardCount {
		group.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return fn(ctx, byte(part))
		})
	}
	return group.Wait()
}

// shardOf returns the name of the shard of hashes that begin with part.
func shardOf(part byte) string { return hex.EncodeToString([]byte{part}) }

// readDir lists a directory. A missing directory is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
