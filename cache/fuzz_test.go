package cache

import (
	"bytes"
	"reflect"
	"testing"
)

// A saved index is read whole or not at all.
func FuzzFileIndex(f *testing.F) {
	f.Add(encodeIndex(nil))
	f.Add(encodeIndex(map[pathID]indexEntry{{1}: {state: fileState{size: 1, mtime: -1}, used: 7}}))
	f.Add([]byte(indexMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := decodeIndex(b)
		if err != nil {
			return
		}
		again, err := decodeIndex(entries.encode(0))
		if err != nil || !reflect.DeepEqual(entries, again) {
			t.Fatalf("%v: %v then %v", err, entries, again)
		}
	})
}

func FuzzRecord(f *testing.F) {
	k := Key{1}
	for _, r := range []*Record{
		{Class: ClassDone},
		{Class: ClassFailed, Outputs: []Output{{"o", SumBytes(nil), true}}, Message: "m", Seconds: 0.5, Manifest: []byte("a\nmanifest")},
	} {
		b, err := EncodeRecord(nil, k, r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(recordMagic + "1 "))
	f.Add([]byte(recordMagic + "3 \n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRecord(nil, k, b)
		if err != nil {
			return
		}
		if _, err := DecodeRecord(nil, Key{2}, b); err == nil {
			t.Fatal("a record for one key answers for another")
		}
		again, err := EncodeRecord(nil, k, r)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := DecodeRecord(nil, k, again); err != nil || !reflect.DeepEqual(back, r) {
			t.Fatalf("%v: %+v then %+v", err, r, back)
		}
	})
}

// Decoded directories contain only sorted names without path separators, and encode to a form that decodes to the same.
func FuzzDirectory(f *testing.F) {
	tree, err := BuildTree(goldenEntries())
	if err != nil {
		f.Fatal(err)
	}
	for _, golden := range goldenDirectories {
		g, _ := ParseDigest(golden.digest)
		f.Add(tree.Blobs[g])
	}
	f.Add([]byte{0x0a, 0x02, 0x0a, 0x00})
	f.Add([]byte{0x1a, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := decodeDirectory(b)
		if err != nil {
			return
		}
		last := ""
		err = d.eachName(func(i int, kind nameKind) error {
			name := [...]func() string{
				func() string { return d.files[i].name },
				func() string { return d.dirs[i].name },
				func() string { return d.links[i].name },
			}[kind]()
			if name <= last || checkName(name) != nil {
				t.Errorf("%q after %q", name, last)
			}
			last = name
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		canonical := d.encode()
		again, err := decodeDirectory(canonical)
		if err != nil || !bytes.Equal(again.encode(), canonical) {
			t.Fatalf("%v: %x", err, canonical)
		}
	})
}

func FuzzParseDigest(f *testing.F) {
	f.Add(SumBytes([]byte("x")).String())
	f.Add("/")
	f.Add(SumBytes(nil).Hex() + "/-1")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDigest(s)
		if err != nil {
			return
		}
		if back, err := ParseDigest(d.String()); err != nil || back != d {
			t.Fatalf("%v: %s then %s", err, d, back)
		}
	})
}
