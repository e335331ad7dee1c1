package cache

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// age makes the file look last used that long ago.
func age(t testing.TB, path string, d time.Duration) {
	t.Helper()
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-d)); err != nil {
		t.Fatal(err)
	}
}

func has(t testing.TB, s Store, g Digest) bool {
	t.Helper()
	ok, err := s.Has(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func collect(t testing.TB, d *Disk, o GCOptions) GCReport {
	t.Helper()
	r, err := d.GC(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGCLeastRecentlyUsed(t *testing.T) {
	const size = 1000
	setUp := func() (*Disk, []Digest) {
		d := openDisk(t)
		var blobs []Digest
		for i := range 6 { // 0 is the oldest
			g := putBytes(t, d, []byte(fmt.Sprintf("%*d", size, i)))
			age(t, d.blobPath(g), time.Duration(10-i)*24*time.Hour)
			blobs = append(blobs, g)
		}
		return d, blobs
	}
	for _, c := range []struct {
		name string
		o    GCOptions
		gone int
	}{
		{"no limits", GCOptions{MaxBytes: -1}, 0},
		{"room enough", GCOptions{MaxBytes: 6 * size}, 0},
		{"one byte short", GCOptions{MaxBytes: 6*size - 1}, 1},
		{"half", GCOptions{MaxBytes: 3 * size}, 3},
		{"keep nothing", GCOptions{MaxBytes: 0}, 6},
		{"age", GCOptions{MaxBytes: -1, MaxAge: 8*24*time.Hour - time.Minute}, 3},
		{"age and room", GCOptions{MaxBytes: 1 * size, MaxAge: 8*24*time.Hour - time.Minute}, 5},
		{"later", GCOptions{MaxBytes: -1, MaxAge: 8*24*time.Hour - time.Minute, Now: time.Now().Add(24 * time.Hour)}, 4},
	} {
		d, blobs := setUp()
		dry := c.o
		dry.DryRun = true
		want := GCReport{Blobs: int64(c.gone), Bytes: int64(c.gone) * size, KeptBytes: int64(6-c.gone) * size}
		if got := collect(t, d, dry); got != want {
			t.Errorf("%s, dry run: %+v; want %+v", c.name, got, want)
		}
		if s, _ := d.Stats(t.Context()); s.Blobs != 6 {
			t.Fatalf("%s: a dry run removed", c.name)
		}
		if got := collect(t, d, c.o); got != want {
			t.Errorf("%s: %+v; want %+v", c.name, got, want)
		}
		for i, g := range blobs {
			if has(t, d, g) != (i >= c.gone) {
				t.Errorf("%s: blob %d is there: %v", c.name, i, has(t, d, g))
			}
		}
	}
}

func TestGCGrace(t *testing.T) {
	d := openDisk(t)
	g := putBytes(t, d, []byte("in use"))
	k := Key{1}
	if err := d.PutRecord(t.Context(), k, &Record{Class: ClassDone}); err != nil {
		t.Fatal(err)
	}
	uses := map[string]func(){
		"put":  func() { putBytes(t, d, []byte("in use")) },
		"has":  func() { has(t, d, g) },
		"read": func() { _, _ = ReadBlob(t.Context(), d, g, -1) },
	}
	for name, use := range uses {
		age(t, d.blobPath(g), 48*time.Hour)
		use()
		age(t, d.recordPath(k), 48*time.Hour)
		if r, err := d.Record(t.Context(), k); r == nil || err != nil {
			t.Fatal(r, err)
		}
		if r := collect(t, d, GCOptions{MaxAge: time.Nanosecond}); r.Blobs+r.Records != 0 {
			t.Errorf("%s: removed what was just used: %+v", name, r)
		}
		// Used within the hour, but noted half an hour before that.
		age(t, d.blobPath(g), touchInterval-time.Second)
		use()
		if r := collect(t, d, GCOptions{MaxAge: time.Nanosecond, Now: time.Now().Add(time.Hour)}); r.Blobs != 0 {
			t.Errorf("%s: removed what was used within the hour: %+v", name, r)
		}
	}
}

func TestGCTempAndLocks(t *testing.T) {
	d := openDisk(t)
	young, old := d.path(tmpDir, "blob-1"), d.path(tmpDir, "blob-2")
	overwriteNew(t, young, "x")
	overwriteNew(t, old, "y")
	age(t, old, tempAge+time.Minute)
	left := d.path(locksDir, Key{1}.String()) // by a machine that lost power
	overwriteNew(t, left, "")
	age(t, left, tempAge+time.Minute)
	held := d.path(locksDir, Key{2}.String())
	l, err := lockedfile.Try(held)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	release, ok, err := d.Lock(t.Context(), Key{2})
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer release()
	for _, path := range []string{held, d.path(locksDir, storeLock), d.path(locksDir, lockedfile.KeysFile)} {
		if _, err := os.Lstat(path); err == nil {
			age(t, path, tempAge+time.Minute)
		}
	}

	if r := collect(t, d, GCOptions{MaxBytes: -1}); r.TempFiles != 2 {
		t.Errorf("%+v; want 2 temporary files", r)
	}
	files := listing(t, d.Dir())
	for name, want := range map[string]bool{
		"tmp/blob-1": true, "tmp/blob-2": false, "locks/store": true, "locks/keys": runtime.GOOS == "linux",
		"locks/" + Key{1}.String(): false, "locks/" + Key{2}.String(): true,
	} {
		if _, ok := files[name]; ok != want {
			t.Errorf("%s is there: %v", name, ok)
		}
	}
	if l, _ := lockedfile.Try(held); l != nil {
		t.Error("gc broke a lock file that is held")
	}
	if _, ok, _ := d.Lock(t.Context(), Key{2}); ok {
		t.Error("gc broke a lock that is held")
	}
}

// gc keeps every remaining record whole, and stays within the budget.
func TestGCKeepsRecordsWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for round := range 25 {
		d := openDisk(t)
		randomAge := func(path string) { age(t, path, 2*time.Hour+time.Duration(random.IntN(20*24*60))*time.Minute) }
		var files, trees []Digest
		for i := range 20 {
			files = append(files, putBytes(t, d, []byte(fmt.Sprintf("%*d", 1+random.IntN(500), i))))
		}
		for i := range 8 {
			entries := []Entry{{Path: "n" + strconv.Itoa(i), Link: "t"}}
			for _, f := range random.Perm(len(files))[:random.IntN(4)] {
				entries = append(entries, Entry{Path: fmt.Sprintf("sub%d/%d", random.IntN(2), f), Digest: files[f]})
			}
			tree, err := BuildTree(entries)
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Store(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			trees = append(trees, tree.Root)
		}
		for i := range 15 {
			r := &Record{Class: ClassDone}
			for range random.IntN(3) {
				r.Outputs = append(r.Outputs,
					Output{Name: "f", Digest: files[random.IntN(len(files))]},
					Output{Name: "t", Digest: trees[random.IntN(len(trees))], Tree: true})
			}
			if err := d.PutRecord(t.Context(), Key{byte(i)}, r); err != nil {
				t.Fatal(err)
			}
		}
		var total int64
		for _, top := range []string{casDir, acDir} {
			err := d.eachFile(t.Context(), top, func(s storedFile) error {
				path := d.path(filepath.FromSlash(s.name))
				randomAge(path)
				total += s.info.Size()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		o := GCOptions{MaxBytes: random.Int64N(total)}
		if round%3 == 0 {
			o.MaxAge = time.Duration(random.IntN(20*24)) * time.Hour
		}
		report := collect(t, d, o)
		stats, err := d.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left := stats.BlobBytes + stats.RecordBytes
		if report.KeptBytes != left || report.Bytes != total-left {
			t.Errorf("report %+v; but %d of %d bytes are left", report, left, total)
		}
		if left > o.MaxBytes {
			t.Errorf("%d bytes left of at most %d", left, o.MaxBytes)
		}
		v, err := d.Verify(t.Context(), false, nil)
		if err != nil || len(v.Corrupt)+len(v.Dangling) != 0 {
			t.Fatalf("after gc: %+v, %v", v, err)
		}
	}
}

// While gc removes everything that it can, blobs that another process has just put or found stay.
func TestGCBesideUsers(t *testing.T) {
	d := openDisk(t)
	done := make(chan struct{})
	var gc, users sync.WaitGroup
	gc.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := d.GC(t.Context(), GCOptions{MaxBytes: 0}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for w := range 4 {
		users.Go(func() {
			content := []byte("content " + strconv.Itoa(w))
			g, k := SumBytes(content), Key{byte(w)}
			rec := &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: g}}}
			for i := range 150 {
				// Simulates the passing of a day, so gc can remove it, now or a little later.
				old := time.Now().Add(-24 * time.Hour)
				_ = os.Chtimes(d.blobPath(g), time.Time{}, old)
				_ = os.Chtimes(d.recordPath(k), time.Time{}, old)
				if i%2 == 0 && !has(t, d, g) {
					continue
				}
				if i%2 == 1 {
					putBytes(t, d, content)
					if err := d.PutRecord(t.Context(), k, rec); err != nil {
						t.Error(err)
					}
					if r, err := d.Record(t.Context(), k); r == nil || err != nil {
						t.Errorf("round %d: the record that was just put is %v, %v", i, r, err)
					}
				}
				if b, err := ReadBlob(t.Context(), d, g, -1); string(b) != string(content) || err != nil {
					t.Errorf("round %d: the blob that is there is %q, %v", i, b, err)
				}
			}
		})
	}
	users.Wait()
	close(done)
	gc.Wait()
}
