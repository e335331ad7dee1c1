package cache

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// stabilize waits until the file's stamps are old enough to be believed.
func stabilize(t testing.TB, path string) {
	t.Helper()
	s, ok := stateOf(path, lstat(t, path))
	if !ok {
		t.Skip("this platform has no change times")
	}
	for !s.stableAt(time.Now().UnixNano()) {
		time.Sleep(10 * time.Millisecond)
	}
}

func lstat(t testing.TB, path string) fs.FileInfo {
	t.Helper()
	fi, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi
}

// settledIndex returns an index that knows src.
func settledIndex(t testing.TB, path, src string) *FileIndex {
	t.Helper()
	stabilize(t, src)
	ix, err := OpenFileIndex(path, proof.Place{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Digest(src, lstat(t, src)); err != nil {
		t.Fatal(err)
	}
	return ix
}

// digest queries the index and returns how often it read the file.
func digest(t *testing.T, ix *FileIndex, path string) (Digest, int) {
	t.Helper()
	reads := 0
	ix.hashed = func(string) { reads++ }
	g, err := ix.Digest(path, lstat(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return g, reads
}

func TestFileIndexReadsOnce(t *testing.T) {
	dir := t.TempDir()
	path, saved := filepath.Join(dir, "f"), filepath.Join(dir, "sub", "index")
	overwriteNew(t, path, "one")
	ix := settledIndex(t, saved, path)
	if g, reads := digest(t, ix, path); reads != 0 || g != SumBytes([]byte("one")) {
		t.Errorf("second time: %s after %d reads", g, reads)
	}
	if err := ix.Save(); err != nil {
		t.Fatal(err)
	}
	ix, _ = OpenFileIndex(saved, proof.Place{})
	if g, reads := digest(t, ix, path); reads != 0 || g != SumBytes([]byte("one")) {
		t.Errorf("after loading: %s after %d reads", g, reads)
	}

	old := lstat(t, path).ModTime()
	change := func(name string, fn func() error, want string) {
		t.Helper()
		if err := fn(); err != nil {
			t.Fatal(err)
		}
		stabilize(t, path)
		if g, reads := digest(t, ix, path); reads != 1 || g != SumBytes([]byte(want)) {
			t.Errorf("%s: %s after %d reads; want a read of %q", name, g, reads, want)
		}
		if _, reads := digest(t, ix, path); reads != 0 {
			t.Errorf("%s: read again", name)
		}
	}
	write := func(s string) func() error { return func() error { return os.WriteFile(path, []byte(s), 0o644) } }
	change("same size", write("two"), "two")
	change("longer", write("three"), "three")
	change("same size and modification time", func() error {
		return errors.Join(write("THREE")(), os.Chtimes(path, time.Time{}, old))
	}, "THREE")
	change("replaced by rename", func() error {
		other := filepath.Join(dir, "other")
		return errors.Join(os.WriteFile(other, []byte("other"), 0o644), os.Chtimes(other, old, old), os.Rename(other, path))
	}, "other")
	change("touched", func() error { return os.Chtimes(path, time.Time{}, old.Add(-time.Hour)) }, "other")
	change("forgotten", func() error { ix.Forget(path); return nil }, "other")
}

// A write within the tick of the clock that stamped the file last must not go
// unnoticed, however the index is used.
func TestFileIndexRacyFile(t *testing.T) {
	dir := t.TempDir()
	path, saved := filepath.Join(dir, "f"), filepath.Join(dir, "index")
	ix, _ := OpenFileIndex(saved, proof.Place{})
	for i := range 300 {
		want := []byte(strconv.Itoa(1000 + i))
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		g, err := ix.Digest(path, lstat(t, path))
		if err != nil || g != SumBytes(want) {
			t.Fatalf("write %d: %s, %v; want the digest of %q", i, g, err, want)
		}
		if i%100 == 50 {
			if err := ix.Save(); err != nil {
				t.Fatal(err)
			}
			ix, _ = OpenFileIndex(saved, proof.Place{})
		}
	}
	if _, reads := digest(t, ix, path); reads != 1 {
		t.Error("a file that was just written was believed")
	}
}

func TestStampStable(t *testing.T) {
	const now = int64(1_700_000_000_500_000_000)
	for _, c := range []struct {
		name  string
		stamp int64
		want  bool
	}{
		{"an hour ago", now - 3600e9 + 1, true},
		{"just now", now, false},
		{"in the future", now + 1, false},
		{"a tick ago", now - fineTick, false},
		{"more than a tick ago", now - fineTick - 1, true},
		{"whole second, the last", now - 500e6, false},
		{"whole second, the one before", now - 1500e6, false},
		{"whole second, long ago", now - 3500e6, true},
	} {
		if got := stampStable(c.stamp, now); got != c.want {
			t.Errorf("%s: stable = %v", c.name, got)
		}
	}
	for _, s := range []fileState{{mtime: now, ctime: 1}, {mtime: 1, ctime: now}} {
		if s.stableAt(now) {
			t.Errorf("%+v is believed", s)
		}
	}
}

func TestFileIndexErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	overwriteNew(t, path, "x")
	fi := lstat(t, path)
	ix, _ := OpenFileIndex(filepath.Join(dir, "index"), proof.Place{})
	if _, err := ix.Digest(dir, lstat(t, dir)); err == nil {
		t.Error("a directory has a digest")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Digest(path, fi); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
	overwriteNew(t, path, "x")
	if os.Geteuid() != 0 {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Digest(path, lstat(t, path)); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("an unreadable file: %v", err)
		}
	}
}

// Any damage to a saved index makes it empty, without wrong digests.
func TestFileIndexDamage(t *testing.T) {
	path, place := filepath.Join(t.TempDir(), "index"), proof.Place{}
	whole := place.Seal(path, encodeIndex(map[pathID]indexEntry{{1}: {used: 7}, {2}: {used: 8}}))
	read := func(b []byte) int {
		content, _ := place.Unseal(path, b)
		e, _ := decodeIndex(content)
		return len(readEntries(&e))
	}
	if n := read(whole); n != 2 {
		t.Fatalf("%d entries", n)
	}
	for bit := range len(whole) * 8 {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if read(b) != 0 {
			t.Fatalf("bit %d flipped and it went unnoticed", bit)
		}
	}
	for size := range len(whole) {
		overwriteNew(t, path, string(whole[:size]))
		if ix, err := OpenFileIndex(path, proof.Place{}); err != nil || len(known(ix)) != 0 {
			t.Fatalf("%d bytes left: %d entries, %v", size, len(known(ix)), err)
		}
	}
	if ix, err := OpenFileIndex(filepath.Dir(path), proof.Place{}); err != nil || len(known(ix)) != 0 {
		t.Errorf("a directory as index: %v", err)
	}
}

// known returns the entries of an index, once they are read.
func known(ix *FileIndex) map[pathID]indexEntry {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return readEntries(&ix.entries)
}

// readEntries returns all entries of a table.
func readEntries(t *indexTable) map[pathID]indexEntry {
	all := map[pathID]indexEntry{}
	for r := range slices.Chunk(t.saved, indexRecordSize) {
		all[pathID(r)] = decodeIndexEntry(r)
	}
	for id, e := range t.changes {
		if delete(all, id); e != nil {
			all[id] = *e
		}
	}
	return all
}

// encodeIndex returns the saved form of entries.
func encodeIndex(entries map[pathID]indexEntry) []byte {
	t := indexTable{}
	for id, e := range entries {
		t.put(id, e)
	}
	return t.encode(0)
}

// TestIndexTable applies the same changes to a table and a map, which are saved and read back now and then.
func TestIndexTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		table, want := indexTable{}, map[pathID]indexEntry{}
		for step := range 2000 {
			id := pathID{byte(random.IntN(4)), byte(random.IntN(50))}
			switch random.IntN(20) {
			case 0:
				oldest := uint32(random.IntN(3))
				maps.DeleteFunc(want, func(_ pathID, e indexEntry) bool { return e.used < oldest })
				again, err := decodeIndex(table.encode(oldest))
				if err != nil {
					t.Fatal(err)
				}
				table = again
			case 1, 2, 3, 4, 5:
				_, there := want[id]
				if table.remove(id) != there {
					t.Fatalf("step %d: removing %v, there: %v", step, id, there)
				}
				delete(want, id)
			default:
				e := indexEntry{state: fileState{size: int64(step), mtime: -1, inode: 3}, hash: [32]byte{byte(step)}, used: uint32(random.IntN(5))}
				table.put(id, e)
				want[id] = e
			}
			e, there := table.get(id)
			if w, ok := want[id]; ok != there || ok && e != w {
				t.Fatalf("step %d: %v is %v, %v; want %v, %v", step, id, e, there, w, ok)
			}
		}
		if got := readEntries(&table); !maps.Equal(got, want) {
			t.Fatalf("%d entries, want %d", len(got), len(want))
		}
	}
}

// Records that are not in order would not be found.
func TestIndexOrder(t *testing.T) {
	for _, ids := range [][]byte{{2, 1}, {1, 1}} {
		b := []byte(indexMagic)
		for _, id := range ids {
			b = appendIndexEntry(b, pathID{id}, &indexEntry{})
		}
		if _, err := decodeIndex(b); err == nil {
			t.Errorf("%v is taken for an index", ids)
		}
	}
}

func TestFileIndexSave(t *testing.T) {
	dir := t.TempDir()
	path, saved := filepath.Join(dir, "f"), filepath.Join(dir, "index")
	overwriteNew(t, path, "x")
	empty, _ := OpenFileIndex(saved, proof.Place{})
	if err := empty.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(saved); err == nil {
		t.Error("an index without change was saved")
	}
	ix := settledIndex(t, saved, path)
	ix.entries.put(pathID{1}, indexEntry{used: today() - indexKeep - 1})
	ix.entries.put(pathID{2}, indexEntry{used: today() - indexKeep + 1})
	if err := ix.Save(); err != nil {
		t.Fatal(err)
	}
	first := lstat(t, saved)
	if err := ix.Save(); err != nil || !os.SameFile(first, lstat(t, saved)) {
		t.Errorf("saved again without change: %v", err)
	}
	again, _ := OpenFileIndex(saved, proof.Place{})
	if _, old := known(again)[pathID{1}]; old || len(known(again)) != 2 {
		t.Errorf("%d entries; want all but the old one", len(known(again)))
	}
	if left := listing(t, dir); len(left) != 2 {
		t.Errorf("files: %q", left)
	}
}

func TestFileIndexConcurrent(t *testing.T) {
	dir := t.TempDir()
	ix, _ := OpenFileIndex(filepath.Join(dir, "index"), proof.Place{})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 40 {
				path := filepath.Join(dir, strconv.Itoa(i%10))
				if w == 0 && i < 10 {
					_ = os.WriteFile(path, []byte(path), 0o644)
				}
				if fi, err := os.Lstat(path); err == nil && fi.Size() > 0 {
					_, err := ix.Digest(path, fi)
					if changed := (*ChangedError)(nil); err != nil && !errors.As(err, &changed) {
						t.Error(err)
					}
				}
				if i%20 == w {
					ix.Forget(path)
					if err := ix.Save(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// A run without changes loads the index and looks every file up.
func BenchmarkFileIndex(b *testing.B) {
	const n = 100_000
	entries := map[pathID]indexEntry{}
	for i := range n {
		entries[idOf("/project/problems/some_problem/tests/file_"+strconv.Itoa(i))] = indexEntry{used: today()}
	}
	path := filepath.Join(b.TempDir(), "index")
	whole := encodeIndex(entries)
	overwriteNew(b, path, string(whole))
	b.SetBytes(int64(len(whole)))
	b.ReportAllocs()
	for b.Loop() {
		ix, _ := OpenFileIndex(path, proof.Place{})
		for i := range n {
			if _, ok := ix.lookup(idOf("/project/problems/some_problem/tests/file_"+strconv.Itoa(i)), fileState{}); !ok {
				b.Fatal("lost ", i)
			}
		}
	}
}
