package backend

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// FuzzRegistry: reading any damaged registry file returns each session once, and reads the same after writing them.
func FuzzRegistry(f *testing.F) {
	add, err := encodeLine(line{Op: opAdd, Entry: Entry{ID: "a", Kind: "local", Name: "pytest:kv", Workspace: "/tmp/a", Cookie: "c", Opened: time.Unix(1, 0).UTC()}})
	if err != nil {
		f.Fatal(err)
	}
	remove, err := encodeLine(line{Op: opRemove, Entry: Entry{ID: "a"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(slices.Concat(add, remove))
	f.Add(slices.Concat(add[:len(add)/2], []byte("\n"), add, add))
	f.Add([]byte(`{"op":"add","id":""}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries := decodeRegistry(text)
		var again []byte
		for i, e := range entries {
			if e.ID == "" || slices.ContainsFunc(entries[:i], func(o Entry) bool { return o.ID == e.ID }) {
				t.Fatalf("%+v among %+v", e, entries)
			}
			encoded, err := encodeLine(line{Op: opAdd, Entry: e})
			if err != nil {
				t.Skip() // a time that JSON cannot represent
			}
			again = append(again, encoded...)
		}
		twice := decodeRegistry(again)
		if len(twice) != len(entries) {
			t.Fatalf("%+v is read as %+v", entries, twice)
		}
		for i := range twice {
			a, errA := encodeLine(line{Entry: entries[i]})
			b, errB := encodeLine(line{Entry: twice[i]})
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Fatalf("%+v is read as %+v", entries[i], twice[i])
			}
		}
	})
}
