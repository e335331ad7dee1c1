package buildlog

import (
	"bytes"
	"math"
	"testing"
)

// Whatever bytes a log holds, reading it ends, and what is found in it is
// well formed and survives being written again.
func FuzzLog(f *testing.F) {
	whole, ends := writeLog(f, 3)
	f.Add(whole)
	f.Add(whole[:ends[2]-1])
	f.Add(append([]byte(frameMark+"\xff\xff\xff\xff"), whole...))
	f.Add([]byte(frameMark + frameMark))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := &Log{framer: newFramer(testKey)}
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
			m := &Log{framer: newFramer(testKey)}
			m.load(append(bytes.Clone(b[:cut]), whole...))
			if len(m.entries) < 3 {
				t.Fatalf("behind %d bytes of garbage: %d entries", cut, len(m.entries))
			}
		}
	})
}

func FuzzEntry(f *testing.F) {
	for i := range 3 {
		e := entryOf(i)
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
