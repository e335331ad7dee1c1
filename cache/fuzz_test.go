package cache

import (
	"bytes"
	"math"
	"reflect"
	"testing"
)

// Whatever bytes a log holds, reading it ends, and what is found in it is
// well formed and survives being written again.
func FuzzBuildLog(f *testing.F) {
	whole, ends := writeLog(f, 3)
	f.Add(whole)
	f.Add(whole[:ends[2]-1])
	f.Add(append([]byte(frameMark+"\xff\xff\xff\xff"), whole...))
	f.Add([]byte(frameMark + frameMark))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := &BuildLog{framer: newFramer()}
		l.load(b)
		if l.live > l.size {
			t.Fatalf("%d live bytes of %d", l.live, l.size)
		}
		if len(b) > 0 && l.live == 0 && l.dropped == 0 {
			t.Fatal("all of it was lost and none of it counted")
		}
		for _, addr := range l.Addrs() {
			if e, ok := l.Get(addr); ok && e.Addr != addr {
				t.Fatalf("%q is filed under %q", e.Addr, addr)
			}
		}
		for cut := range min(len(b), 40) { // good frames stay good behind garbage
			m := &BuildLog{framer: newFramer()}
			m.load(append(bytes.Clone(b[:cut]), whole...))
			if len(m.entries) < 3 {
				t.Fatalf("behind %d bytes of garbage: %d entries", cut, len(m.entries))
			}
		}
	})
}

func FuzzLogEntry(f *testing.F) {
	for i := range 3 {
		e := logEntry(i)
		b, err := appendEntry(nil, &e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{entryVersion, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeEntry(string(b))
		addr, addrErr := entryAddr(string(b))
		if err != nil {
			return
		}
		if addrErr != nil || addr != e.Addr {
			t.Fatalf("address %q, %v; entry %+v", addr, addrErr, e)
		}
		again, err := appendEntry(nil, &e)
		if err != nil { // well formed, but nothing that Append would take
			return
		}
		back, err := decodeEntry(string(again))
		if err != nil {
			t.Fatal(err)
		}
		third, err := appendEntry(nil, &back)
		if err != nil || !bytes.Equal(again, third) {
			t.Fatalf("%v: %x then %x", err, again, third)
		}
		if !math.IsNaN(e.Seconds) && back.Key != e.Key {
			t.Fatal("the key changed")
		}
	})
}

// A saved index is read whole or not at all.
func FuzzFileIndex(f *testing.F) {
	f.Add(indexOf(nil))
	f.Add(indexOf(map[pathID]indexEntry{{1}: {state: fileState{size: 1, mtime: -1}, used: 7}}))
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

// What decodes has only names that stay inside, in order, and encodes to a
// form that decodes to the same.
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
