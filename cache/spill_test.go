package cache

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache/faulty"
)

// numbers reads all of a part.
func numbers(t *testing.T, s *spill, part byte) []uint64 {
	t.Helper()
	var all []uint64
	err := s.read(part, func(b []byte) {
		for ; len(b) > 0; b = b[8:] {
			all = append(all, binary.LittleEndian.Uint64(b))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// TestSpillRoom adds entries part by part, as whoever walks through shards does.
func TestSpillRoom(t *testing.T) {
	const room = 1 << 12
	s := &spill{room: room, dirs: []string{t.TempDir()}}
	defer s.close()
	for part := range spillParts {
		for range 100 {
			if err := s.add(byte(part), make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
		}
		kept := 0
		for _, b := range s.parts {
			kept += cap(b)
		}
		if kept > 4*room {
			t.Fatalf("%d bytes are kept in memory after %d parts; there is room for %d", kept, part+1, room)
		}
	}
}

// However much of it is in files, and wherever those are, a spill holds what was
// added to it.
func TestSpill(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	for name, dirs := range map[string][]string{"in the first place": {t.TempDir()}, "in the second": {gone, t.TempDir()}} {
		for _, room := range []int{1, 100, 1 << 20} {
			s := &spill{room: room, dirs: slices.Clone(dirs)}
			want := map[byte][]uint64{}
			for i := range 1000 {
				part := byte(i * i)
				want[part] = append(want[part], uint64(i))
				if err := s.add(part, binary.LittleEndian.AppendUint64(nil, uint64(i))); err != nil {
					t.Fatal(err)
				}
			}
			for part := range spillParts {
				if got := numbers(t, s, byte(part)); !slices.Equal(got, want[byte(part)]) {
					t.Errorf("%s, room %d: part %d is %v; want %v", name, room, part, got, want[byte(part)])
				}
			}
			s.close()
			if left := listing(t, dirs[len(dirs)-1]); len(left) != 0 {
				t.Errorf("%s: left %v", name, left)
			}
		}
	}
	s := &spill{room: 1, dirs: []string{gone}}
	if err := s.add(0, make([]byte, 8)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nowhere to write: %v", err)
	}
}

// TestCut compares with what sorting everything finds.
func TestCut(t *testing.T) {
	type use struct{ used, size int64 }
	random := rand.New(rand.NewPCG(1, 1))
	for round := range 60 {
		w := weights{&spill{room: 64, dirs: []string{t.TempDir()}}}
		var all []use
		var total int64
		for range random.IntN(60) {
			u := use{random.Int64N(20) - 10, random.Int64N(100)}
			switch round % 3 {
			case 1:
				u.used = int64(random.Uint64())
			case 2:
				u.used = []int64{math.MinInt64, math.MaxInt64 - 1, 0, 1 << 48, -1 << 32}[random.IntN(5)]
			}
			all = append(all, u)
			total += u.size
			if err := w.add([32]byte{byte(random.Uint32())}, u.used, u.size); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(all, func(a, b use) int { return cmp.Compare(b.used, a.used) })
		for _, room := range []int64{0, total / 3, max(0, total-1), total} {
			want, kept := int64(math.MinInt64), int64(0)
			for _, u := range all {
				if kept += u.size; kept > room {
					want = u.used + 1
					break
				}
			}
			if got, err := w.cut(room); got != want || err != nil {
				t.Fatalf("round %d, room %d of %d: cut %d, %v; want %d\n%v", round, room, total, got, err, want, all)
			}
		}
		w.spill.close()
	}
}

// What cannot be read or removed keeps nothing else from going, and the records
// that remain are whole.
func TestGCOnFailingDisk(t *testing.T) {
	for seed := range uint64(4) {
		disk := faulty.New(seed, t.TempDir())
		dir := t.TempDir()
		d, err := OpenDisk(dir, Options{Files: disk})
		if err != nil {
			t.Fatal(err)
		}
		d.journal.most = 0
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
		if len(v.Dangling) > int(r.Unreadable) { // of a record that could not be read nobody knows the blobs
			t.Errorf("seed %d: after %+v: %d dangling", seed, r, len(v.Dangling))
		}
	}
}

// A directory that is shared by many trees, at several depths, is used whenever
// one of them is.
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
	err := d.each(t.Context(), casDir, func(s stored) error {
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
