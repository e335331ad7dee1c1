package cache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mountSmall gives a file system of 256 KiB. Only root can; root without the
// right to mount is a broken machine.
func mountSmall(t *testing.T) (dir string, remountReadOnly func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small tmpfs needs root")
	}
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("this root may not mount (in a container without CAP_SYS_ADMIN)")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, func() {
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// fill uses up the file system down to the last byte.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

func TestFullDisk(t *testing.T) {
	dir, _ := mountSmall(t)
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
	l, err := OpenBuildLog(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Append(LogEntry{Addr: "first", Key: Key{1}, Class: ClassDone}); err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(t.TempDir(), "src")
	overwriteNew(t, src, "source")
	ix := settledIndex(t, filepath.Join(dir, "index"), src)
	if err := ix.Save(); err != nil {
		t.Fatal(err)
	}

	fill(t, dir)
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

	// The log has the rest of its page to fill before it needs another.
	for i := 0; err == nil && i < 1000; i++ {
		err = l.Append(LogEntry{Addr: "big", Message: string(bytes.Repeat([]byte("m"), 200))})
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Append = %v; want ENOSPC", err)
	}
	if r, err := ReadBuildLog(filepath.Join(dir, "log")); err != nil || r.Dropped() != 0 {
		t.Errorf("the log after it: %v, %d dropped", err, r.Dropped())
	}
	if _, ok := l.Get("first"); !ok {
		t.Error("the first entry is gone")
	}
	ix.Forget(src)
	ix.entries.put(idOf("other"), indexEntry{used: today()})
	for i := range 100 { // past what is left of any page
		ix.entries.put(pathID{byte(i)}, indexEntry{used: today()})
	}
	if err := ix.Save(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Save = %v; want ENOSPC", err)
	}
	if again, _ := OpenFileIndex(filepath.Join(dir, "index")); len(known(again)) != 1 {
		t.Errorf("the index after it has %d entries; want the old one", len(known(again)))
	}

	// A full disk is where gc is needed most.
	report, err := d.GC(t.Context(), GCOptions{Now: time.Now().Add(2 * time.Hour)})
	if err != nil || report.Blobs != 1 {
		t.Errorf("GC = %+v, %v", report, err)
	}
}

func TestReadOnlyMount(t *testing.T) {
	dir, remount := mountSmall(t)
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
