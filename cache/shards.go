package cache

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// stored is one visible file of a store.
type stored struct {
	name string // relative to the store, slash-separated: "cas/ab/ab12..."
	hash [32]byte
	// stray says that the file is not where a blob or record of its name is.
	stray bool
	info  fs.FileInfo
}

// each calls fn for every file under top ("cas" or "ac"), in order of name.
// One shard's names are in memory at a time. Files that vanish meanwhile are
// left out, and a store that was never made is empty.
func (d *Disk) each(ctx context.Context, top string, fn func(stored) error) error {
	shards, err := readDir(d.path(top))
	if err != nil {
		return err
	}
	for _, shard := range shards {
		if !shard.IsDir() {
			continue
		}
		files, err := readDir(d.path(top, shard.Name()))
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			info, err := f.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			s := stored{name: path.Join(top, shard.Name(), f.Name()), info: info}
			n, err := hex.Decode(s.hash[:], []byte(f.Name()[:min(len(f.Name()), hex.EncodedLen(len(s.hash)))]))
			s.stray = err != nil || n != len(s.hash) || !info.Mode().IsRegular() ||
				d.shardPath(top, hex.EncodeToString(s.hash[:])) != d.path(filepath.FromSlash(s.name))
			if err := fn(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// readDir is os.ReadDir to which a directory that is not there is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
