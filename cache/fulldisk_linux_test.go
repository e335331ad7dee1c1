package cache

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

func TestFullDisk(t *testing.T) {
	dir, _ := ramdir.Small(t)
	d, err := OpenDisk(filepath.Join(dir, "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	kept := putBytes(t, d, []byte("kept"))
	big := bytes.Repeat([]byte("x"), 1<<20)
	if _, err := PutBytes(t.Context(), d, big); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Put = %v; want ENOSPC", err)
	}
	src := filepath.Join(t.TempDir(), "src")
	overwriteNew(t, src, "source")
	ix := settledIndex(t, filepath.Join(dir, "index"), src)
	if err := ix.Save(); err != nil {
		t.Fatal(err)
	}

	ramdir.Fill(t, dir)
	for _, size := range []int{1, smallBlob + 1} {
		if _, err := PutBytes(t.Context(), d, bytes.Repeat([]byte("n"), size)); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Put of %d bytes = %v; want ENOSPC", size, err)
		}
	}
	if err := d.PutRecord(t.Context(), Key{1}, &Record{Class: ClassDone, Message: strings.Repeat("m", 4096)}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("PutRecord = %v; want ENOSPC", err)
	}
	if r, err := d.Record(t.Context(), Key{1}); r != nil || err != nil {
		t.Errorf("Record = %v, %v; want nil, nil", r, err)
	}
	if left := listing(t, d.path(tmpDir)); len(left) != 0 {
		t.Errorf("left in tmp: %d files", len(left))
	}
	if left := listing(t, d.path(casDir)); len(left) != 1 {
		t.Errorf("a partial blob is visible: %v", left)
	}
	if b, err := ReadBlob(t.Context(), d, kept, -1); string(b) != "kept" || err != nil {
		t.Errorf("what was put before: %q, %v", b, err)
	}

	ix.Forget(src)
	ix.entries.put(idOf("other"), indexEntry{used: today()})
	for i := range 100 { // beyond the free space of any page
		ix.entries.put(pathID{byte(i)}, indexEntry{used: today()})
	}
	if err := ix.Save(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Save = %v; want ENOSPC", err)
	}
	if again, _ := OpenFileIndex(filepath.Join(dir, "index"), proof.Place{}); len(known(again)) != 1 {
		t.Errorf("the index after it has %d entries; want the old one", len(known(again)))
	}

	// A full disk is where gc is needed most.
	report, err := d.GC(t.Context(), GCOptions{Now: time.Now().Add(2 * time.Hour)})
	if err != nil || report.Blobs != 1 {
		t.Errorf("GC = %+v, %v", report, err)
	}
}

func TestReadOnlyMount(t *testing.T) {
	dir, remount := ramdir.Small(t)
	d, err := OpenDisk(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := putBytes(t, d, []byte("x"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	remount()
	var notWritable *NotWritableError
	if _, err := OpenDisk(dir, Options{}); !errors.As(err, &notWritable) || !errors.Is(err, syscall.EROFS) {
		t.Errorf("OpenDisk = %v; want a NotWritableError because of EROFS", err)
	}
	ro, err := OpenDisk(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if b, err := ReadBlob(t.Context(), ro, g, -1); string(b) != "x" || err != nil {
		t.Errorf("ReadBlob = %q, %v", b, err)
	}
}
