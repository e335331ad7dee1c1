package cache

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// put puts a blob and a record of it as if that was some time ago.
func putAgo(t testing.TB, d *Disk, k Key, text string, ago time.Duration) Digest {
	t.Helper()
	g, used := SumBytes([]byte(text)), time.Now().Add(-ago).UnixNano()
	record, err := encodeRecord(k, &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: g}}, Run: text})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(d.journal.append(frame{ref{blobKind, g.Hash}, used, []byte(text)}), d.journal.append(frame{ref{recordKind, k}, used, record}))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// answer is the text that the record of k leads to: "" when there is none, or it
// cannot be read.
func answer(t testing.TB, d *Disk, k Key) string {
	t.Helper()
	r, err := d.Record(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return ""
	}
	b, err := ReadBlob(t.Context(), d, r.Outputs[0].Digest, -1)
	var missing *MissingError
	var corrupt *CorruptError
	if errors.As(err, &missing) || errors.As(err, &corrupt) {
		return ""
	}
	if err != nil || string(b) != r.Run {
		t.Fatalf("record of %q leads to %q, %v", r.Run, b, err)
	}
	return r.Run
}

func fileCount(t testing.TB, d *Disk) int {
	t.Helper()
	return len(listing(t, d.path(casDir))) + len(listing(t, d.path(acDir)))
}

// What one process puts is there for all others at once, the latest record of a
// key wins, and what is put again is not written again.
func TestJournalIsShared(t *testing.T) {
	dir := t.TempDir()
	a, b := openJournaling(t, dir), openJournaling(t, dir)
	for i := range 20 {
		one, other := a, b
		if i%2 == 1 {
			one, other = b, a
		}
		text := fmt.Sprint("text ", i)
		if got := answer(t, other, Key{byte(i / 4)}); i%4 == 0 && got != "" {
			t.Fatalf("%d: there is %q before it was put", i, got)
		}
		g := putBytes(t, one, []byte(text))
		if err := one.PutRecord(t.Context(), Key{byte(i / 4)}, &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: g}}, Run: text}); err != nil {
			t.Fatal(err)
		}
		size := lstat(t, a.journal.path(currentJournal)).Size()
		putBytes(t, other, []byte(text))
		if now := lstat(t, a.journal.path(currentJournal)).Size(); now != size {
			t.Errorf("%d: what is there was written again", i)
		}
		for _, d := range []*Disk{one, other} {
			if got := answer(t, d, Key{byte(i / 4)}); got != text {
				t.Fatalf("%d: got %q, want %q", i, got, text)
			}
		}
		if ok, err := other.Has(t.Context(), Digest{g.Hash, g.Size + 1}); ok || err != nil {
			t.Errorf("%d: a blob of another size: %v, %v", i, ok, err)
		}
	}
	if n := fileCount(t, a); n != 0 {
		t.Errorf("%d files were made", n)
	}
	large := bytes.Repeat([]byte("x"), maxJournaled+1)
	putBytes(t, a, large)
	if n := fileCount(t, a); n != 1 {
		t.Errorf("a large blob made %d files, want 1", n)
	}
}

// smallJournals has journals sealed after a few frames.
func smallJournals(d *Disk) *Disk {
	d.journal.limit = 2000
	return d
}

func keyOf(i int) Key { return Key(SumBytes([]byte{byte(i), byte(i >> 8)}).Hash) }

// Sealed journals are found through their indexes, by who was there when they were
// sealed and by who was not; when there are too many, the oldest become files.
func TestJournalsAreSealed(t *testing.T) {
	const n = 300
	dir := t.TempDir()
	a, b := smallJournals(openJournaling(t, dir)), smallJournals(openJournaling(t, dir))
	for i := range n {
		d := a
		if i%3 == 0 {
			d = b
		}
		putAgo(t, d, keyOf(i), fmt.Sprint("text ", i), 0)
		for _, of := range []int{i, i / 2, 0} {
			if got, want := answer(t, b, keyOf(of)), fmt.Sprint("text ", of); got != want {
				t.Fatalf("after %d: %d is %q", i, of, got)
			}
		}
		if answer(t, a, keyOf(n+i)) != "" {
			t.Fatalf("after %d: there is an answer that was never put", i)
		}
	}
	names, err := a.journal.sealedNames()
	if err != nil || len(names) < 20 || len(names) > maxSealed {
		t.Fatalf("%d journals are sealed, %v", len(names), err)
	}
	whole := func(what string, d *Disk) {
		t.Helper()
		for i := range n {
			if got, want := answer(t, d, keyOf(i)), fmt.Sprint("text ", i); got != want {
				t.Fatalf("%s: %d is %q", what, i, got)
			}
		}
	}
	whole("opened anew", openJournaling(t, dir))
	for i, name := range names { // an index is no more than a help
		path := a.journal.path(name + indexSuffix)
		switch i % 4 {
		case 0:
			err = os.Remove(path)
		case 1:
			overwrite(t, path, []byte(refsMark))
		case 2:
			overwrite(t, path, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	whole("without indexes", openJournaling(t, dir))
	if n := fileCount(t, a); n != 0 {
		t.Errorf("%d files were made", n)
	}

	few := smallJournals(openJournaling(t, dir))
	few.journal.sealedMost = 3
	for i := range n {
		putAgo(t, few, keyOf(n+i), fmt.Sprint("text ", n+i), 0)
	}
	if fileCount(t, few) == 0 {
		t.Error("no files were made")
	}
	whole("some of them files", few)
	whole("others who knew of them", b)
}

// A wrong bit or a torn end costs what it hits, and never makes a wrong answer.
func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	const n = 2
	d := openJournaling(t, dir)
	path := d.journal.path(currentJournal)
	var ends [n]int64
	for i := range n {
		putAgo(t, d, keyOf(i), fmt.Sprint("text ", i), 0)
		ends[i] = lstat(t, path).Size()
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lost := func(what string, d *Disk) (lost []int) {
		t.Helper()
		for i := range n {
			switch got := answer(t, d, keyOf(i)); got {
			case fmt.Sprint("text ", i):
			case "":
				lost = append(lost, i)
			default:
				t.Fatalf("%s: %d is %q", what, i, got)
			}
		}
		return lost
	}
	for at := 0; at < len(sound); at += 3 {
		b := bytes.Clone(sound)
		b[at] ^= 1 << (at % 8)
		overwrite(t, path, b)
		what := fmt.Sprintf("a wrong bit at %d", at)
		if got := lost(what, openJournaling(t, dir)); len(got) > 1 {
			t.Fatalf("%s: %v are lost", what, got)
		}
		overwrite(t, path, sound)
		if got := lost(what+", mended", openJournaling(t, dir)); len(got) > 0 {
			t.Fatalf("%s, mended: %v are lost", what, got)
		}
		if at%7 == 0 { // one that was read when it was sound
			overwrite(t, path, b)
			if got := lost(what, d); len(got) > 1 {
				t.Fatalf("%s, known: %v are lost", what, got)
			}
			overwrite(t, path, sound)
			d = openJournaling(t, dir)
			d.journal.find(ref{})
		}
	}
	for size := int(ends[0]) % 5; size < len(sound); size += 5 {
		overwrite(t, path, sound[:size])
		d := openJournaling(t, dir)
		got := lost("torn", d)
		if want := n - 1; size == int(ends[0]) && len(got) != want {
			t.Fatalf("torn after the first: %v are lost", got)
		}
		for i := range n {
			putAgo(t, d, keyOf(i), fmt.Sprint("text ", i), 0)
		}
		if got := lost("put again", openJournaling(t, dir)); len(got) > 0 {
			t.Fatalf("torn at %d and put again: %v are lost", size, got)
		}
	}
}

// Wherever an index leads, there is the right answer or none.
func TestDamagedJournalIndex(t *testing.T) {
	dir := t.TempDir()
	d := smallJournals(openJournaling(t, dir))
	const n = 6
	for i := range n {
		putAgo(t, d, keyOf(i), fmt.Sprint("text ", i), 0)
	}
	names, err := d.journal.sealedNames()
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	path := d.journal.path(names[0] + indexSuffix)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(sound); at += 7 { // an entry has 41 bytes
		b := bytes.Clone(sound)
		b[at] ^= 1 << (at % 8)
		overwrite(t, path, b)
		d := openJournaling(t, dir)
		for i := range n {
			if got := answer(t, d, keyOf(i)); got != "" && got != fmt.Sprint("text ", i) {
				t.Fatalf("a wrong bit at %d: %d is %q", at, i, got)
			}
		}
	}
}

// What was put long ago has a file once it is used, which says so; what was put just
// now has none. A store that is open for reading makes none at all.
func TestJournalNotesUses(t *testing.T) {
	dir := t.TempDir()
	d := openJournaling(t, dir)
	g := putAgo(t, d, Key{1}, "old", 48*time.Hour)
	putAgo(t, d, Key{2}, "new", touchInterval/2)
	ro, err := OpenDisk(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Disk{ro, d} {
		if answer(t, d, Key{1}) != "old" || answer(t, d, Key{2}) != "new" {
			t.Fatal("an answer is lost")
		}
		if ok, err := d.Has(t.Context(), g); !ok || err != nil {
			t.Fatalf("Has = %v, %v", ok, err)
		}
		want := 0
		if d != ro {
			want = 2
		}
		if got := fileCount(t, d); got != want {
			t.Errorf("%d files, want %d", got, want)
		}
	}
	for _, path := range []string{d.blobPath(g), d.recordPath(Key{1})} {
		if fi := lstat(t, path); !isRecent(fi.ModTime().UnixNano()) || fi.Mode() != 0o444 {
			t.Errorf("%s was used %v, mode %v", path, fi.ModTime(), fi.Mode())
		}
	}
	if ok, err := d.Has(t.Context(), putAgo(t, d, Key{3}, "another", 48*time.Hour)); !ok || err != nil || fileCount(t, d) != 3 {
		t.Errorf("%v, %v, %d files", ok, err, fileCount(t, d))
	}
	path, when, err := d.Used(putAgo(t, d, Key{4}, "asked for", 48*time.Hour))
	if err != nil || isRecent(when.UnixNano()) {
		t.Errorf("used %v, %v", when, err)
	}
	if b, err := os.ReadFile(path); string(b) != "asked for" || err != nil {
		t.Errorf("its file: %q, %v", b, err)
	}
}

// gc takes from journals what it would take of files, with what a dry run says, and
// what stays is whole. That holds for a disk on which no files can be made.
func TestGCOfJournals(t *testing.T) {
	for _, full := range []bool{false, true} {
		dir := t.TempDir()
		d := smallJournals(openJournaling(t, dir))
		const n, young = 60, 20
		for i := range n {
			ago := 10 * gcGrace
			if i >= n-young {
				ago = gcGrace / 4
			}
			putAgo(t, d, keyOf(i), fmt.Sprint("text ", i), ago)
		}
		shared := putAgo(t, d, keyOf(1000), "shared", 10*gcGrace) // but a young record leads to it
		if err := d.PutRecord(t.Context(), keyOf(1001), &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: shared}}, Run: "shared"}); err != nil {
			t.Fatal(err)
		}
		before := listing(t, dir)
		dry := collect(t, openJournaling(t, dir), GCOptions{MaxBytes: 0, DryRun: true})
		if !equalMaps(before, listing(t, dir)) {
			t.Fatal("a dry run changed the store")
		}
		collecting := openJournaling(t, dir)
		if full {
			// As when the disk has no room for them.
			for _, top := range []string{casDir, acDir} {
				if err := errors.Join(os.RemoveAll(d.path(top)), os.WriteFile(d.path(top), nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
		}
		r := collectAnyway(t, collecting, GCOptions{MaxBytes: 0})
		if full {
			for _, top := range []string{casDir, acDir} {
				if err := errors.Join(os.Remove(d.path(top)), os.Mkdir(d.path(top), 0o755)); err != nil {
					t.Fatal(err)
				}
			}
		} else if r.Blobs != n-young || r.Records != n-young+1 || r.Unreadable != 0 {
			t.Errorf("%+v", r)
		}
		if !full && (dry.Blobs != r.Blobs || dry.Records != r.Records || dry.KeptBytes != r.KeptBytes) {
			t.Errorf("dry run %+v, run %+v", dry, r)
		}
		for _, d := range []*Disk{openJournaling(t, dir), d} {
			for i := n - young; i < n; i++ {
				if got, want := answer(t, d, keyOf(i)), fmt.Sprint("text ", i); got != want {
					t.Errorf("full %v: %d is %q", full, i, got)
				}
			}
			if answer(t, d, keyOf(1001)) != "shared" {
				t.Errorf("full %v: what a young record leads to is gone", full)
			}
		}
		names, err := d.journal.sealedNames()
		if err != nil || !full && len(names) > 0 || full && len(names) >= n/7 {
			t.Errorf("full %v: left are %v, %v", full, names, err)
		}
		v, err := openJournaling(t, dir).Verify(t.Context(), true, nil)
		if err != nil || len(v.Corrupt)+len(v.Dangling) > 0 {
			t.Errorf("full %v: %+v, %v", full, v, err)
		}
	}
}

// collectAnyway is collect for a store of which something cannot be read.
func collectAnyway(t testing.TB, d *Disk, o GCOptions) GCReport {
	t.Helper()
	r, err := d.GC(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Verify finds what is wrong with journals, and a repair leaves what is right.
func TestVerifyJournals(t *testing.T) {
	dir := t.TempDir()
	d := smallJournals(openJournaling(t, dir))
	const n = 20
	for i := range n {
		putAgo(t, d, keyOf(i), fmt.Sprint("text ", i), 0)
	}
	names, err := d.journal.sealedNames()
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	v, err := openJournaling(t, dir).Verify(t.Context(), false, nil)
	if err != nil || v.Blobs != n || v.Records != n || len(v.Corrupt)+len(v.Dangling) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	s, err := d.Stats(t.Context())
	if err != nil || s.Blobs != n || s.Records != n || s.Oldest.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	path := d.journal.path(names[0])
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, path, bytes.Replace(b, []byte("text 2"), []byte("TEXT 2"), 1))
	if v, err = openJournaling(t, dir).Verify(t.Context(), false, nil); err != nil || len(v.Corrupt) != 1 || len(v.Dangling) != 1 || !strings.HasSuffix(v.Dangling[0], keyOf(2).String()) {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err = openJournaling(t, dir).Verify(t.Context(), true, nil); err != nil || len(v.Corrupt) != 1 || v.Corrupt[0] != "journal/"+names[0] || len(v.Dangling) != 1 {
		t.Errorf("the repair: %+v, %v", v, err)
	}
	if v, err = openJournaling(t, dir).Verify(t.Context(), false, nil); err != nil || v.Records != n-1 || v.Blobs != n-1 || len(v.Corrupt)+len(v.Dangling) > 0 {
		t.Errorf("after it: %+v, %v", v, err)
	}
}

// Whatever bytes a journal and its index hold, what is found is sound.
func FuzzJournal(f *testing.F) {
	dir := f.TempDir()
	d := smallJournals(openJournaling(f, dir))
	for i := range 6 {
		putAgo(f, d, keyOf(i), fmt.Sprint("text ", i), 0)
	}
	names, err := d.journal.sealedNames()
	if err != nil || len(names) != 1 {
		f.Fatal(names, err)
	}
	all := listing(f, d.path(journalDir))
	whole, index := []byte(all[names[0]]), []byte(all[names[0]+indexSuffix])
	rng := rand.New(rand.NewPCG(1, 1))
	f.Add(whole, index)
	f.Add(whole[:rng.IntN(len(whole))], index)
	f.Add(whole, index[:refsHead+refEntry])
	f.Add([]byte(frameMark+"\x05\x00\x00\x00"), []byte(refsMark))
	f.Fuzz(func(t *testing.T, b, index []byte) {
		dir := t.TempDir()
		name := filepath.Join(dir, journalDir, "1")
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, b, 0o600), os.WriteFile(name+indexSuffix, index, 0o600)); err != nil {
			t.Fatal(err)
		}
		d := openJournaling(t, dir)
		defer d.Close()
		for i := range 6 {
			answer(t, d, keyOf(i))
		}
		if _, err := d.Verify(t.Context(), true, nil); err != nil {
			t.Fatal(err)
		}
		if v, err := d.Verify(t.Context(), false, nil); err != nil || len(v.Corrupt)+len(v.Dangling) > 0 {
			t.Fatalf("after a repair: %+v, %v", v, err)
		}
	})
}

// Journals are sealed and settled, and gc makes files of them, while others put and
// read: what was put is always there.
func TestJournalsBesideEachOther(t *testing.T) {
	dir := t.TempDir()
	const stores, workers, rounds = 3, 2, 60
	var group sync.WaitGroup
	for s := range stores {
		d := smallJournals(openJournaling(t, dir))
		d.journal.sealedMost = 2
		defer d.Close()
		for w := range workers {
			group.Go(func() {
				mine := func(i int) (Key, string) {
					return keyOf((s*workers+w)*rounds + i), fmt.Sprintf("store %d, worker %d, round %d", s, w, i)
				}
				rng := rand.New(rand.NewPCG(uint64(s), uint64(w)))
				for i := range rounds {
					k, text := mine(i)
					g, err := PutBytes(t.Context(), d, []byte(text))
					if err == nil {
						err = d.PutRecord(t.Context(), k, &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: g}}, Run: text})
					}
					if err == nil && i%20 == 10 {
						_, err = d.GC(t.Context(), GCOptions{MaxBytes: 0})
					}
					if err != nil {
						t.Error(err)
						return
					}
					for _, of := range []int{i, rng.IntN(i + 1)} {
						k, text := mine(of)
						r, err := d.Record(t.Context(), k)
						if err != nil || r == nil || r.Run != text {
							t.Errorf("%s: record %+v, %v", text, r, err)
							return
						}
						if b, err := ReadBlob(t.Context(), d, r.Outputs[0].Digest, -1); string(b) != text || err != nil {
							t.Errorf("%s: %q, %v", text, b, err)
							return
						}
					}
				}
			})
		}
	}
	group.Wait()
	v, err := openJournaling(t, dir).Verify(t.Context(), false, nil)
	if err != nil || len(v.Corrupt)+len(v.Dangling) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}
