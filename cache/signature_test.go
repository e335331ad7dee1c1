package cache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func recordKey(t testing.TB, secret string) RecordKey {
	t.Helper()
	k, err := NewRecordKey([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// openSigned opens a store for who has a secret; "" is a store without a key.
func openSigned(t testing.TB, dir, secret string) *Disk {
	t.Helper()
	var o Options
	if secret != "" {
		o.Signer = recordKey(t, secret)
	}
	d, err := OpenDisk(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Only owners of the key read records that were signed with it, and untrusted records stay.
func TestForeignRecord(t *testing.T) {
	const mine, another, none = "mine", "another", ""
	k := Key{7}
	for _, try := range []struct {
		writer, reader string
		foreign        bool
	}{{mine, mine, false}, {another, mine, true}, {none, mine, true}, {mine, none, false}} {
		dir := t.TempDir()
		if err := openSigned(t, dir, try.writer).PutRecord(t.Context(), k, &Record{Class: ClassDone, Run: "r"}); err != nil {
			t.Fatal(err)
		}
		d := openSigned(t, dir, try.reader)
		for range 2 {
			r, err := d.Record(t.Context(), k)
			var foreign *ForeignError
			if got := errors.As(err, &foreign); got != try.foreign || got != (r == nil) {
				t.Errorf("written by %q, read by %q: %+v, %v", try.writer, try.reader, r, err)
			}
		}
	}
}

// A signature belongs to one record under one key: neither can be exchanged.
func TestSignatureElsewhere(t *testing.T) {
	d := openSigned(t, t.TempDir(), "mine")
	good, bad := &Record{Class: ClassDone, Run: "good"}, &Record{Class: ClassDone, Run: "bad"}
	if err := errors.Join(d.PutRecord(t.Context(), Key{1}, good), openSigned(t, d.Dir(), "another").PutRecord(t.Context(), Key{2}, bad)); err != nil {
		t.Fatal(err)
	}
	mine, err := os.ReadFile(d.recordPath(Key{1}))
	if err != nil {
		t.Fatal(err)
	}
	forged, err := os.ReadFile(d.recordPath(Key{2}))
	if err != nil {
		t.Fatal(err)
	}
	signature := bytes.Fields(mine)[3]
	overwrite(t, d.recordPath(Key{2}), bytes.Replace(forged, bytes.Fields(forged)[3], signature, 1))
	var foreign *ForeignError
	if r, err := d.Record(t.Context(), Key{2}); r != nil || !errors.As(err, &foreign) {
		t.Errorf("with the signature of another record: %+v, %v", r, err)
	}
	if err := os.MkdirAll(filepath.Dir(d.recordPath(Key{3})), 0o777); err != nil {
		t.Fatal(err)
	}
	overwriteNew(t, d.recordPath(Key{3}), string(mine))
	if r, err := d.Record(t.Context(), Key{3}); r != nil || err != nil {
		t.Errorf("under another key's name: %+v, %v", r, err)
	}
}

func TestSign(t *testing.T) {
	d := openSigned(t, t.TempDir(), "mine")
	others := []*Disk{openSigned(t, d.Dir(), ""), openSigned(t, d.Dir(), "another"), d}
	for i, from := range others {
		if err := from.PutRecord(t.Context(), Key{byte(i)}, &Record{Class: ClassDone, Run: "r", Manifest: []byte("m\n")}); err != nil {
			t.Fatal(err)
		}
	}
	overwriteNew(t, filepath.Join(filepath.Dir(d.recordPath(Key{0})), Key{0, 1}.String()), "damaged")
	before := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(d.recordPath(Key{0}), before, before); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{2, 0} {
		if n, err := d.Sign(t.Context()); n != want || err != nil {
			t.Errorf("signed %d, %v; want %d", n, err, want)
		}
	}
	if fi, err := os.Stat(d.recordPath(Key{0})); err != nil || !fi.ModTime().Equal(before) {
		t.Errorf("signing counts as a use: %v, %v", fi.ModTime(), err)
	}
	for i := range others {
		if r, err := d.Record(t.Context(), Key{byte(i)}); err != nil || r == nil || string(r.Manifest) != "m\n" {
			t.Errorf("record %d: %+v, %v", i, r, err)
		}
	}
}

// A record is read for a look-up that no last answer has.
func BenchmarkRecord(b *testing.B) {
	for name, secret := range map[string]string{"signed": "mine", "unsigned": ""} {
		b.Run(name, func(b *testing.B) {
			d := openSigned(b, b.TempDir(), secret)
			if err := d.PutRecord(b.Context(), Key{1}, &Record{Class: ClassDone, Run: "r", Manifest: make([]byte, 2000)}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if r, err := d.Record(b.Context(), Key{1}); r == nil || err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
