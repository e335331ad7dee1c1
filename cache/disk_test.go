package cache

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// openDisk opens an empty store.
func openDisk(t testing.TB) *Disk {
	t.Helper()
	d, err := OpenDisk(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func putBytes(t testing.TB, s Store, b []byte) Digest {
	t.Helper()
	g, err := PutBytes(t.Context(), s, b)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// listing returns every file below dir with its content.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// overwrite changes a stored file as a failing disk would.
func overwrite(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDiskLayout(t *testing.T) {
	d := openDisk(t)
	g := putBytes(t, d, []byte("hello"))
	k := Key{0xab, 1}
	if err := d.PutRecord(t.Context(), k, &Record{Class: ClassDone, Run: "r"}); err != nil {
		t.Fatal(err)
	}
	files := listing(t, d.Dir())
	for _, name := range []string{"VERSION", "ID", "locks/store", "cas/2c/" + g.Hex(), "ac/ab/" + k.String()} {
		if _, ok := files[name]; !ok {
			t.Errorf("no file %s", name)
		}
		delete(files, name)
	}
	if len(files) != 0 {
		t.Errorf("unexpected files: %q", files)
	}
	fi, err := os.Stat(d.blobPath(g))
	if err != nil || fi.Mode() != 0o444 {
		t.Errorf("blob has mode %v, %v; want -r--r--r--", fi.Mode(), err)
	}
}

func TestOpenDiskRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	overwriteNew(t, file, "")
	var notWritable *NotWritableError
	if _, err := OpenDisk(filepath.Join(file, "store"), Options{}); !errors.As(err, &notWritable) {
		t.Errorf("under a file: %v; want a NotWritableError", err)
	} else if notWritable.Dir != filepath.Join(file, "store") {
		t.Errorf("NotWritableError names %s", notWritable.Dir)
	}

	d := openDisk(t)
	overwrite(t, d.path(versionTag), []byte("fevalgraph-store 2\n"))
	var version *VersionError
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if _, err := OpenDisk(d.Dir(), o); !errors.As(err, &version) || version.Found != "fevalgraph-store 2" {
			t.Errorf("another layout, %+v: %v; want a VersionError", o, err)
		}
	}
	overwrite(t, d.path(versionTag), nil)
	if _, err := OpenDisk(d.Dir(), Options{}); err != nil {
		t.Errorf("VERSION that power loss emptied: %v", err)
	}
}

func overwriteNew(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyLeavesNoTrace(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	d, err := OpenDisk(absent, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := d.Has(t.Context(), SumBytes(nil)); ok || err != nil {
		t.Errorf("Has in a store that is not there = %v, %v", ok, err)
	}
	if s, err := d.Stats(t.Context()); s != (Stats{}) || err != nil {
		t.Errorf("Stats of a store that is not there = %+v, %v", s, err)
	}
	if _, err := os.Lstat(absent); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening for reading made the directory: %v", err)
	}

	w := openDisk(t)
	good, bad := putBytes(t, w, []byte("good")), putBytes(t, w, []byte("bad"))
	k := Key{1}
	if err := w.PutRecord(t.Context(), k, &Record{Class: ClassDone}); err != nil {
		t.Fatal(err)
	}
	overwrite(t, w.blobPath(bad), []byte("BAD"))
	overwrite(t, w.recordPath(k), []byte("garbage"))
	old := time.Now().Add(-48 * time.Hour).Truncate(time.Second)
	if err := os.Chtimes(w.blobPath(good), old, old); err != nil {
		t.Fatal(err)
	}
	before := listing(t, w.Dir())

	d, err = OpenDisk(w.Dir(), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := ReadBlob(t.Context(), d, good, -1); string(b) != "good" || err != nil {
		t.Errorf("ReadBlob = %q, %v", b, err)
	}
	var corrupt *CorruptError
	if _, err := ReadBlob(t.Context(), d, bad, -1); !errors.As(err, &corrupt) {
		t.Errorf("ReadBlob of a corrupt blob: %v", err)
	}
	if r, err := d.Record(t.Context(), k); r != nil || err != nil {
		t.Errorf("Record = %v, %v; want nil, nil", r, err)
	}
	_, putErr := PutBytes(t.Context(), d, []byte("new"))
	_, fileErr := d.PutFile(t.Context(), w.path(versionTag), nil)
	_, _, lockErr := d.Lock(t.Context(), k)
	_, gcErr := d.GC(t.Context(), GCOptions{})
	_, verifyErr := d.Verify(t.Context(), true, nil)
	for name, err := range map[string]error{
		"Put": putErr, "PutFile": fileErr, "Lock": lockErr, "GC": gcErr, "Verify": verifyErr,
		"PutRecord": d.PutRecord(t.Context(), k, &Record{Class: ClassDone}),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s = %v; want ErrReadOnly", name, err)
		}
	}
	if after := listing(t, w.Dir()); !equalMaps(before, after) {
		t.Errorf("the store changed:\n%q\n%q", before, after)
	}
	if fi, _ := os.Stat(w.blobPath(good)); !fi.ModTime().Equal(old) {
		t.Error("reading touched a blob")
	}
}

func equalMaps(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func TestPutDoesNotRewrite(t *testing.T) {
	d := openDisk(t)
	b := []byte("written once")
	g := putBytes(t, d, b)
	first, err := os.Stat(d.blobPath(g))
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(t.TempDir(), "f")
	overwriteNew(t, src, string(b))
	putBytes(t, d, b)
	if _, err := d.PutFile(t.Context(), src, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.PutFile(t.Context(), src, &g); err != nil {
		t.Fatal(err)
	}
	again, err := os.Stat(d.blobPath(g))
	if err != nil || !os.SameFile(first, again) || !first.ModTime().Equal(again.ModTime()) {
		t.Errorf("the blob was written again: %v", err)
	}
	if left := listing(t, d.path(tmpDir)); len(left) != 0 {
		t.Errorf("left in tmp: %q", left)
	}
}

func TestTornBlob(t *testing.T) {
	content := []byte("whole before the power went")
	for size := range len(content) {
		d := openDisk(t)
		g := putBytes(t, d, content)
		overwrite(t, d.blobPath(g), content[:size])
		if ok, err := d.Has(t.Context(), g); ok || err != nil {
			t.Fatalf("%d bytes left: Has = %v, %v", size, ok, err)
		}
		if size%2 == 0 { // half of them are read before the second put
			var corrupt *CorruptError
			if _, err := d.Open(t.Context(), g); !errors.As(err, &corrupt) {
				t.Fatalf("%d bytes left: Open = %v; want a CorruptError", size, err)
			}
		}
		putBytes(t, d, content)
		if b, err := ReadBlob(t.Context(), d, g, -1); err != nil || !bytes.Equal(b, content) {
			t.Fatalf("%d bytes left, put again: %q, %v", size, b, err)
		}
	}
}

func TestBitFlipsInBlob(t *testing.T) {
	content := []byte("sixteen bytes ..")
	d := openDisk(t)
	for bit := range len(content) * 8 {
		g := putBytes(t, d, content)
		flipped := bytes.Clone(content)
		flipped[bit/8] ^= 1 << (bit % 8)
		overwrite(t, d.blobPath(g), flipped)
		_, err := ReadBlob(t.Context(), d, g, -1)
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || corrupt.Digest != g {
			t.Fatalf("bit %d: %v; want a CorruptError", bit, err)
		}
		if ok, _ := d.Has(t.Context(), g); ok {
			t.Fatalf("bit %d: the bad blob is still there", bit)
		}
	}
}

func TestReaderDropsOnlyWhatItRead(t *testing.T) {
	d := openDisk(t)
	g := putBytes(t, d, []byte("content"))
	overwrite(t, d.blobPath(g), []byte("CONTENT"))
	r, err := d.Open(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Remove(d.blobPath(g)); err != nil { // another reader was faster
		t.Fatal(err)
	}
	putBytes(t, d, []byte("content")) // and a run has healed the store
	var corrupt *CorruptError
	if _, err := r.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 100)); !errors.As(err, &corrupt) {
		t.Fatalf("Read = %v; want a CorruptError", err)
	}
	if b, err := ReadBlob(t.Context(), d, g, -1); string(b) != "content" || err != nil {
		t.Errorf("the healed blob: %q, %v", b, err)
	}
}

func TestBitFlipsInRecord(t *testing.T) {
	d := openDisk(t)
	k := Key{3}
	r := &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: putBytes(t, d, []byte("o"))}}, Run: "r"}
	whole, err := EncodeRecord(nil, k, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.PutRecord(t.Context(), k, r); err != nil { // makes its directory
		t.Fatal(err)
	}
	if err := os.Remove(d.recordPath(k)); err != nil {
		t.Fatal(err)
	}
	version := len(recordMagic) * 8
	for bit := range len(whole) * 8 {
		flipped := bytes.Clone(whole)
		flipped[bit/8] ^= 1 << (bit % 8)
		overwriteNew(t, d.recordPath(k), string(flipped))
		if got, err := d.Record(t.Context(), k); got != nil || err != nil {
			t.Fatalf("bit %d: Record = %+v, %v; want nil, nil", bit, got, err)
		}
		if _, err := os.Stat(d.recordPath(k)); err == nil && (bit < version || bit >= version+8) {
			t.Fatalf("bit %d: the bad record is still there", bit)
		}
	}
	for size := range len(whole) {
		overwriteNew(t, d.recordPath(k), string(whole[:size]))
		if got, err := d.Record(t.Context(), k); got != nil || err != nil {
			t.Fatalf("%d bytes left: Record = %+v, %v; want nil, nil", size, got, err)
		}
	}
}

func TestRecordUnderAnotherKey(t *testing.T) {
	d := openDisk(t)
	if err := d.PutRecord(t.Context(), Key{1}, &Record{Class: ClassDone}); err != nil {
		t.Fatal(err)
	}
	other := Key{2}
	if err := os.MkdirAll(filepath.Dir(d.recordPath(other)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d.recordPath(Key{1}), d.recordPath(other)); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Record(t.Context(), other); r != nil || err != nil {
		t.Errorf("Record = %+v, %v; want nil, nil", r, err)
	}
}

func TestRecordOfAnotherVersionStays(t *testing.T) {
	d := openDisk(t)
	k := Key{1}
	if err := d.PutRecord(t.Context(), k, &Record{Class: ClassDone}); err != nil {
		t.Fatal(err)
	}
	overwrite(t, d.recordPath(k), []byte("fevalgraph-record 4 whatever follows\n"))
	if r, err := d.Record(t.Context(), k); r != nil || err != nil {
		t.Errorf("Record = %+v, %v; want nil, nil", r, err)
	}
	if _, err := os.Stat(d.recordPath(k)); err != nil {
		t.Errorf("the newer program's record is gone: %v", err)
	}
}
