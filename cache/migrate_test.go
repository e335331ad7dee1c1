package cache

import (
	"encoding/binary"
	"os"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache/faulty"
)

// journalOf is a journal as an earlier version wrote it, of a blob and of the
// record that leads to it, both put at when.
func journalOf(t *testing.T, k Key, text string, when time.Time) []byte {
	t.Helper()
	g := SumBytes([]byte(text))
	record, err := EncodeRecord(nil, k, &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: g}}, Run: text})
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range []struct {
		kind    byte
		hash    [32]byte
		content []byte
	}{{'b', g.Hash, []byte(text)}, {'r', k, record}} {
		b := append(newFramer().start(nil), f.kind)
		b = binary.LittleEndian.AppendUint64(b, uint64(when.UnixNano()))
		b = append(append(b, f.hash[:]...), f.content...)
		newFramer().seal(b)
		all = append(all, b...)
	}
	return all
}

// storeWithJournals is the directory of a store of an earlier version: a journal
// that is sealed, with its index, and one that is appended to.
func storeWithJournals(t *testing.T, when time.Time) (dir string) {
	t.Helper()
	d := openDisk(t)
	if err := os.Mkdir(d.path(journalDir), 0o755); err != nil {
		t.Fatal(err)
	}
	damaged := journalOf(t, Key{3}, "damaged", when)
	damaged[frameHeader+journalHead] ^= 1
	overwriteNew(t, d.path(journalDir, "0000000000000001-1"), string(journalOf(t, Key{1}, "sealed", when)))
	overwriteNew(t, d.path(journalDir, "0000000000000001-1.index"), "an index")
	overwriteNew(t, d.path(journalDir, "current"), string(append(damaged, journalOf(t, Key{2}, "current", when)...)))
	return d.Dir()
}

// Whatever an earlier version left in journals is found, once, and is as old as it
// was; what is damaged is a miss.
func TestMigrateJournals(t *testing.T) {
	when := time.Now().Add(-100 * time.Hour).Truncate(time.Second)
	dir := storeWithJournals(t, when)
	reader, err := OpenDisk(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := reader.Record(t.Context(), Key{1}); r != nil || err != nil {
		t.Errorf("without migration: %v, %v; want a miss", r, err)
	}
	d, err := OpenDisk(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for k, text := range map[Key]string{{1}: "sealed", {2}: "current"} {
		if got := lstat(t, d.recordPath(k)).ModTime(); !got.Equal(when) {
			t.Errorf("record of %q was used at %v, want %v", text, got, when)
		}
		r, err := d.Record(t.Context(), k)
		if r == nil || err != nil {
			t.Fatalf("record of %q: %v, %v", text, r, err)
		}
		if b, err := ReadBlob(t.Context(), d, r.Outputs[0].Digest, -1); string(b) != text || err != nil {
			t.Errorf("%q leads to %q, %v", text, b, err)
		}
	}
	if r, err := d.Record(t.Context(), Key{3}); err != nil || r != nil && has(t, d, r.Outputs[0].Digest) {
		t.Errorf("what is damaged: %v, %v", r, err)
	}
	if _, err := os.Lstat(d.path(journalDir)); !os.IsNotExist(err) {
		t.Errorf("the journals are still there: %v", err)
	}
}

// A disk that fails while journals are migrated loses nothing: the next one to
// open the store goes on.
func TestMigrateOnFailingDisk(t *testing.T) {
	for seed := range uint64(8) {
		dir := storeWithJournals(t, time.Now())
		disk := faulty.New(seed, t.TempDir())
		disk.Set(faulty.Weather{Fault: 3, Kill: faulty.Never})
		if d, err := OpenDisk(dir, Options{Files: disk}); err == nil {
			d.Close()
		}
		d, err := OpenDisk(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []Key{{1}, {2}} {
			r, err := d.Record(t.Context(), k)
			if r == nil || err != nil || !has(t, d, r.Outputs[0].Digest) {
				t.Errorf("seed %d: record %v, %v", seed, r, err)
			}
		}
	}
}

// A record of the version before records had manifests is an answer.
func TestRecordWithoutManifest(t *testing.T) {
	d, k := openDisk(t), Key{1}
	text := []byte(`{"class":"done","outputs":null,"attempts":1,"seconds":0,"run":"earlier"}` + "\n")
	old := append([]byte(recordMagic+"1 "+Key(recordSum(k, text)).String()+"\n"), text...)
	if err := d.writeFile(d.recordPath(k), old); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Record(t.Context(), k); err != nil || r == nil || r.Run != "earlier" || r.Manifest != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
