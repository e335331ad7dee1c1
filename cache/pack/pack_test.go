package pack

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/fevalgraph/fevalgraph/cache"
)

var (
	ours   = cache.RecordKey("ours")
	theirs = cache.RecordKey("theirs")
)

func open(t *testing.T, signer cache.RecordKey) *cache.Disk {
	t.Helper()
	d, err := cache.OpenDisk(t.TempDir(), cache.Options{Signer: signer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// fill stores a record with a blob and a tree, and returns its key.
func fill(t *testing.T, store cache.Store, name, run string) (cache.Key, *cache.Record) {
	t.Helper()
	ctx := t.Context()
	text, err := cache.PutBytes(ctx, store, []byte("text of "+name))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := cache.BuildTree([]cache.Entry{{Path: "a/b.txt", Digest: text}, {Path: "empty", Dir: true}})
	if err == nil {
		err = tree.Store(ctx, store)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &cache.Record{Class: cache.ClassDone, Run: run, Attempts: 1, Manifest: []byte("of " + name),
		Outputs: []cache.Output{{Name: "text", Digest: text}, {Name: "tree", Digest: tree.Root, Tree: true}}}
	k := cache.Key{name[0], name[len(name)-1]}
	if err := store.PutRecord(ctx, k, r); err != nil {
		t.Fatal(err)
	}
	return k, r
}

func write(t *testing.T, store cache.Store, signer cache.RecordKey, c Contents) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(t.Context(), &b, store, signer, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pack")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestThereAndBack(t *testing.T) {
	from, to := open(t, ours), open(t, ours)
	k1, r1 := fill(t, from, "one", "run1")
	k2, r2 := fill(t, from, "two", "run1")
	c := Contents{Records: map[cache.Key]*cache.Record{k1: r1, k2: r2}, Extra: map[string][]byte{"run/events": []byte("x"), "a": nil}}
	content := write(t, from, ours, c)
	if again := write(t, from, ours, c); !bytes.Equal(content, again) {
		t.Error("the same contents make different archives")
	}
	extra := map[string][]byte{}
	r := Reader{Store: to, Signer: ours, Extra: func(name string, content []byte) error { extra[name] = content; return nil }}
	counts, err := r.Read(t.Context(), file(t, content))
	if err != nil || counts.Records != 2 || counts.Blobs != 2+2*2+1 {
		t.Fatalf("%+v, %v", counts, err)
	}
	for k, want := range c.Records {
		got, err := to.Record(t.Context(), k)
		if err != nil || got == nil || string(got.Manifest) != string(want.Manifest) {
			t.Fatalf("record %s: %+v, %v", k, got, err)
		}
		for _, o := range got.Outputs {
			if !cache.Intact(t.Context(), to, o) {
				t.Errorf("output %s of %s is not whole", o.Name, k)
			}
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(extra)), []string{"a", "run/events"}) || string(extra["run/events"]) != "x" {
		t.Errorf("extra files: %q", extra)
	}
}

// In any order, the record of the later run wins.
func TestAnyOrder(t *testing.T) {
	var archives [][]byte
	for _, run := range []string{"run1", "run2"} {
		from := open(t, ours)
		k, r := fill(t, from, "same", run)
		archives = append(archives, write(t, from, ours, Contents{Records: map[cache.Key]*cache.Record{k: r}}))
	}
	for range 2 {
		to := open(t, ours)
		for _, a := range archives {
			if _, err := (&Reader{Store: to, Signer: ours}).Read(t.Context(), file(t, a)); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := to.Record(t.Context(), cache.Key{'s', 'e'}); err != nil || r == nil || r.Run != "run2" {
			t.Errorf("the record is %+v, %v", r, err)
		}
		slices.Reverse(archives)
	}
}

// A record that another key signed, or none, counts only where the reader adopts it.
func TestForeign(t *testing.T) {
	for _, signer := range []cache.RecordKey{theirs, nil} {
		from := open(t, signer)
		k, r := fill(t, from, "one", "run1")
		path := file(t, write(t, from, signer, Contents{Records: map[cache.Key]*cache.Record{k: r}}))
		to := open(t, ours)
		counts, err := (&Reader{Store: to, Signer: ours}).Read(t.Context(), path)
		if err != nil || counts.Foreign != 1 || counts.Records != 0 {
			t.Errorf("%+v, %v", counts, err)
		}
		if got, _ := to.Record(t.Context(), k); got != nil {
			t.Error("a foreign record is served")
		}
		if counts, err = (&Reader{Store: to, Signer: ours, Adopt: true}).Read(t.Context(), path); err != nil || counts.Records != 1 {
			t.Errorf("%+v, %v", counts, err)
		}
		if got, err := to.Record(t.Context(), k); got == nil {
			t.Errorf("an adopted record is not served: %v", err)
		}
	}
}

// A truncated or modified pack adds no record, wherever the damage is.
func TestDamaged(t *testing.T) {
	from := open(t, ours)
	k, r := fill(t, from, "one", "run1")
	whole := write(t, from, ours, Contents{Records: map[cache.Key]*cache.Record{k: r}, Extra: map[string][]byte{"a": []byte("b")}})
	read := func(content []byte) (*cache.Record, error) {
		to := open(t, ours)
		_, err := (&Reader{Store: to, Signer: ours}).Read(t.Context(), file(t, content))
		got, _ := to.Record(t.Context(), k)
		return got, err
	}
	for n := 0; n < len(whole); n += 7 {
		if got, err := read(whole[:n]); !errors.Is(err, ErrNoArchive) || got != nil {
			t.Fatalf("of %d bytes the first %d: %v, record %v", len(whole), n, err, got)
		}
	}
	for n := 0; n < len(whole); n += 5 {
		changed := bytes.Clone(whole)
		changed[n] ^= 0x10
		if got, err := read(changed); err == nil && got == nil || err != nil && got != nil {
			t.Fatalf("with byte %d changed: %v, record %v", n, err, got)
		}
	}
}

// Archives that a program made which is not this one.
func TestHostile(t *testing.T) {
	type entry struct {
		header  tar.Header
		content string
	}
	first := entry{tar.Header{Name: headName, Size: int64(len(head))}, head}
	key := cache.Key{7}
	for name, entries := range map[string][]entry{
		"nothing":           {},
		"no head":           {{tar.Header{Name: "cas/" + key.String()}, ""}},
		"two heads":         {first, first},
		"another version":   {{tar.Header{Name: headName, Size: 13}, `{"schema":2}` + "\n"}},
		"a wrong blob":      {first, {tar.Header{Name: "cas/" + key.String(), Size: 1}, "x"}},
		"a way out":         {first, {tar.Header{Name: "extra/../../x", Size: 1}, "x"}},
		"an absolute path":  {first, {tar.Header{Name: "extra//etc/x", Size: 1}, "x"}},
		"another directory": {first, {tar.Header{Name: "locks/x", Size: 1}, "x"}},
		"a link":            {first, {tar.Header{Name: "extra/x", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, ""}},
		"a directory":       {first, {tar.Header{Name: "extra/x/", Typeflag: tar.TypeDir}, ""}},
		"no record":         {first, {tar.Header{Name: "ac/" + key.String(), Size: 1}, "x"}},
		"a short name":      {first, {tar.Header{Name: "ac/07", Size: 1}, "x"}},
	} {
		var b bytes.Buffer
		compressor, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewWriter(compressor)
		for _, e := range entries {
			if err := w.WriteHeader(&e.header); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(e.content)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), compressor.Close()); err != nil {
			t.Fatal(err)
		}
		var extra []string
		r := Reader{Store: open(t, ours), Signer: ours, Adopt: true, Extra: func(name string, _ []byte) error { extra = append(extra, name); return nil }}
		if counts, err := r.Read(t.Context(), file(t, b.Bytes())); err == nil || len(extra) > 0 {
			t.Errorf("%s: %+v, no error, extra files %q", name, counts, extra)
		}
	}
}

// A blob that is gone from the store is named, and so is an end that came from outside.
func TestIncomplete(t *testing.T) {
	from := open(t, ours)
	k, r := fill(t, from, "one", "run1")
	r.Outputs = append(r.Outputs, cache.Output{Name: "gone", Digest: cache.SumBytes([]byte("gone"))})
	var missing *cache.MissingError
	c := Contents{Records: map[cache.Key]*cache.Record{k: r}}
	if _, err := Write(t.Context(), &bytes.Buffer{}, from, ours, c); !errors.As(err, &missing) {
		t.Errorf("without a blob: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Write(ended, &bytes.Buffer{}, from, ours, c); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestBombs tests that an archive whose entries are much larger than its file is refused before
// they are in memory, each by itself or together.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 40<<20)
	for name, sizes := range map[string][]int{"one": {40 << 20, 40 << 20}, "many": slices.Repeat([]int{1 << 20}, 100)} {
		var b bytes.Buffer
		compressor, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		archive := tar.NewWriter(compressor)
		add := func(name string, content []byte) {
			if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
				t.Fatal(err)
			}
			if _, err := archive.Write(content); err != nil {
				t.Fatal(err)
			}
		}
		add(headName, []byte(head))
		for i, size := range sizes {
			add(fmt.Sprint(extraDir, i), zeros[:size])
		}
		if err := errors.Join(archive.Close(), compressor.Close()); err != nil {
			t.Fatal(err)
		}
		path, held := file(t, b.Bytes()), 0
		keep := func(_ string, content []byte) error { held += len(content); return nil }
		_, err = (&Reader{Store: open(t, ours), Signer: ours, Extra: keep}).Read(t.Context(), path)
		if !errors.Is(err, ErrNoArchive) || held > 0 {
			t.Errorf("%s: %d bytes in memory of a file of %d, %v", name, held, b.Len(), err)
		}
		if err := Scan(t.Context(), path, nil, keep); !errors.Is(err, ErrNoArchive) || held > leastInMemory {
			t.Errorf("%s: scanned %d bytes, %v", name, held, err)
		}
	}
}
