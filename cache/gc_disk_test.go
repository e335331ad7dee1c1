package cache

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache/faulty"
)

// Blobs used at or after the threshold fit, but one more does not.
func TestLRUThreshold(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		var all []use
		var sum int64
		for range r.IntN(30) {
			u := use{used: r.Int64N(12) - 6, size: r.Int64N(100)}
			all, sum = append(all, u), sum+u.size
		}
		room := r.Int64N(sum + 50)
		threshold := lruThreshold(slices.Clone(all), room)
		stays := func(threshold int64) (n int64) {
			for _, u := range all {
				if u.used >= threshold {
					n += u.size
				}
			}
			return n
		}
		if got := stays(threshold); got > room {
			t.Fatalf("room for %d; from %d on there are %d of %v", room, threshold, got, all)
		}
		if threshold == math.MinInt64 {
			continue
		}
		if got := stays(threshold - 1); got <= room {
			t.Fatalf("room for %d; from %d on there would be %d of %v", room, threshold-1, got, all)
		}
	}
}

// A blob that cannot be read or removed does not prevent removal of others, and remaining records are whole.
func TestGCOnFailingDisk(t *testing.T) {
	for seed := range uint64(4) {
		disk := faulty.New(seed, t.TempDir())
		dir := t.TempDir()
		d, err := OpenDisk(dir, Options{Files: disk})
		if err != nil {
			t.Fatal(err)
		}
		const n = 100
		for i := range n {
			g := putBytes(t, d, binary.LittleEndian.AppendUint64(nil, uint64(i)))
			if err := d.PutRecord(t.Context(), Key{byte(i)}, &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: g}}}); err != nil {
				t.Fatal(err)
			}
			age(t, d.blobPath(g), gcGrace*2)
			age(t, d.recordPath(Key{byte(i)}), gcGrace*2)
		}
		disk.Set(faulty.Weather{Fault: 8, Kill: faulty.Never})
		r := collect(t, d, GCOptions{MaxBytes: 0})
		if len(disk.Faults()) > 0 && r.Unreadable == 0 || r.Blobs < n/2 || r.Records < n/2 {
			t.Errorf("seed %d: %+v, faults %v", seed, r, disk.Faults())
		}
		disk.Set(faulty.Weather{Kill: faulty.Never})
		v, err := d.Verify(t.Context(), false, nil)
		if err != nil || len(v.Corrupt) > 0 || v.Blobs != n-r.Blobs || v.Records != n-r.Records {
			t.Errorf("seed %d: after %+v: %+v, %v", seed, r, v, err)
		}
		if len(v.Dangling) > int(r.Unreadable) { // the blobs of a record that could not be read are not known
			t.Errorf("seed %d: after %+v: %d dangling", seed, r, len(v.Dangling))
		}
	}
}

// Any use of a tree counts as a use of the directories that it shares with others, at several depths.
func TestGCSharedDirectories(t *testing.T) {
	d := openDisk(t)
	file := putBytes(t, d, []byte("content"))
	path, want := "f", int64(0)
	for i := range 6 {
		tree, err := BuildTree([]Entry{{Path: path, Digest: file}, {Path: "own" + path[:1] + string(rune('0'+i)), Link: "x"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Store(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		k := Key{byte(i)}
		if err := d.PutRecord(t.Context(), k, &Record{Class: ClassDone, Outputs: []Output{{Name: "t", Digest: tree.Root, Tree: true}}}); err != nil {
			t.Fatal(err)
		}
		path = "d/" + path
	}
	err := d.eachFile(t.Context(), casDir, func(s storedFile) error {
		age(t, d.path(filepath.FromSlash(s.name)), 100*gcGrace)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		age(t, d.recordPath(Key{byte(i)}), 100*gcGrace)
	}
	young := d.recordPath(Key{3}) // only this one was used
	age(t, young, 0)
	want = lstat(t, young).Size()
	r := collect(t, d, GCOptions{MaxAge: 2 * gcGrace, MaxBytes: -1})
	if r.Records != 5 {
		t.Errorf("%+v; want 5 records removed", r)
	}
	v, err := d.Verify(t.Context(), false, nil)
	if err != nil || v.Records != 1 || len(v.Dangling)+len(v.Corrupt) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if r.KeptBytes <= want {
		t.Errorf("%+v: no blobs were kept", r)
	}
	if _, err := os.Stat(d.blobPath(file)); err != nil {
		t.Error(err)
	}
}
