package cache

import (
	"context"
	"encoding/binary"
	"math"
)

// reach finds out when each blob was last used by way of a record: directly, or
// as part of a tree. Uses are kept by the shard of the blob.
type reach struct {
	disk  *Disk
	uses  *spill // of blobs
	trees *spill // of directories that have not been looked into
}

func (d *Disk) newReach() *reach { return &reach{disk: d, uses: d.newSpill(), trees: d.newSpill()} }

func (r *reach) close() {
	r.uses.close()
	r.trees.close()
}

// An entry is the hash of a blob and the time of a use.
const useSize = 32 + 8

func addUse(s *spill, hash [32]byte, used int64) error {
	var entry [useSize]byte
	copy(entry[:], hash[:])
	binary.LittleEndian.PutUint64(entry[32:], uint64(used))
	return s.add(hash[0], entry[:])
}

// lastUses returns the last use of each blob in a part.
func lastUses(s *spill, part byte) (map[[32]byte]int64, error) {
	uses := map[[32]byte]int64{}
	err := s.read(part, func(b []byte) {
		for ; len(b) > 0; b = b[useSize:] {
			hash, used := [32]byte(b), int64(binary.LittleEndian.Uint64(b[32:]))
			if last, ok := uses[hash]; !ok || used > last {
				uses[hash] = used
			}
		}
	})
	return uses, err
}

// record passes the use of a record on to its outputs. It reports whether it
// could be read; one that cannot leads nowhere.
func (r *reach) record(k Key, used int64) (readable bool, err error) {
	rec, err := r.disk.peekRecord(k)
	if err != nil {
		return isUnread(err), nil //nolint:nilerr // the caller counts it
	}
	return true, r.outputs(rec, used)
}

func (r *reach) outputs(rec *Record, used int64) error {
	for _, o := range rec.Outputs {
		if err := r.use(o.Digest.Hash, o.Tree, used); err != nil {
			return err
		}
	}
	return nil
}

// frame passes a use of what a frame holds on to that and, of a record, to its
// outputs.
func (r *reach) frame(f frame, used int64) error {
	if f.kind == blobKind {
		return r.use(f.hash, false, used)
	}
	rec, err := decodeRecord(f.hash, f.content)
	if err != nil {
		return nil //nolint:nilerr // another version's
	}
	return r.outputs(rec, used)
}

func (r *reach) use(hash [32]byte, tree bool, used int64) error {
	if tree {
		if err := addUse(r.trees, hash, used); err != nil {
			return err
		}
	}
	return addUse(r.uses, hash, used)
}

// follow passes uses on from directories to what is in them, level by level, so
// that a directory that many trees share is read once on each level.
func (r *reach) follow(ctx context.Context) error {
	for r.trees.count > 0 {
		level := r.trees
		r.trees = r.disk.newSpill()
		err := eachPart(ctx, func(ctx context.Context, part byte) error {
			uses, err := lastUses(level, part)
			if err != nil {
				return err
			}
			for hash, used := range uses {
				if err := r.directory(ctx, hash, used); err != nil {
					return err
				}
			}
			return nil
		})
		level.close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reach) directory(ctx context.Context, hash [32]byte, used int64) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	d, err := r.disk.peekDirectory(hash)
	if err != nil || d == nil {
		return nil //nolint:nilerr // what cannot be read leads nowhere
	}
	for _, f := range d.files {
		if err := r.use(f.digest.Hash, false, used); err != nil {
			return err
		}
	}
	for _, sub := range d.dirs {
		if err := r.use(sub.digest.Hash, true, used); err != nil {
			return err
		}
	}
	return nil
}

// always is the use of what must stay.
const always = math.MaxInt64
