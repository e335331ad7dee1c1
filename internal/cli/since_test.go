package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/report"
)

// savedSince returns the file of what runs of a part found out, and that.
func savedSince(t testing.TB) ([]byte, *since) {
	t.Helper()
	state := t.TempDir()
	outputs := func(name string) []cache.Output {
		return []cache.Output{{Name: name, Digest: cache.SumBytes([]byte(name))}}
	}
	first := decided{}
	s := &since{After: []byte("salt"), Parts: 3, ending: ending{Run: "run4", Exit: 1, Shown: "a table\n", SavedBytes: 5}}
	first = first.and([]int{4, 9}, [][]cache.Output{outputs("four"), outputs("nine")})
	s.decided = first.and([]int{2, 9}, [][]cache.Output{outputs("two"), outputs("nine again")})
	s.decided.Table, s.decided.Drawn = report.DrawTable(&report.Results{}, false), 8
	snapshot, err := cache.TakeSnapshot([]cache.Look{{Path: "/nowhere"}}, time.Now())
	if err == nil {
		err = s.write(state, snapshot)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(state, sinceFile))
	if err != nil {
		t.Fatal(err)
	}
	return b, s
}

// What a later run decided about a cell takes the place of what an earlier one did.
func TestSince(t *testing.T) {
	b, want := savedSince(t)
	got, snapshot, err := decodeSince(b)
	if err != nil || snapshot.Len() != 1 {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for cell, name := range map[int]string{2: "two", 4: "four", 9: "nine again", 3: "", -1: "", 10: ""} {
		outputs, ok := got.decided.outputs(cell)
		if ok != (name != "") || ok && outputs[0].Name != name {
			t.Errorf("cell %d has %+v, %v", cell, outputs, ok)
		}
	}
}

// One wrong bit, and what is missing or too much, make it none; and one that is about
// another record is none for this one.
func TestSinceDamaged(t *testing.T) {
	whole, _ := savedSince(t)
	for i := range whole {
		for bit := range 8 {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << bit
			if _, _, err := decodeSince(bad); err == nil {
				t.Errorf("bit %d of byte %d is wrong, and nobody says so", bit, i)
			}
		}
		if _, _, err := decodeSince(whole[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are enough", i, len(whole))
		}
	}
	if _, _, err := decodeSince(append(whole, 0)); err == nil {
		t.Error("a byte more is not noticed")
	}
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, sinceFile), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	for salt, known := range map[string]bool{"salt": true, "another": false} {
		s, _, err := readSince(state, &unchanged{Salt: []byte(salt)})
		if err != nil || (s != nil) != known {
			t.Errorf("salt %q: %+v, %v", salt, s, err)
		}
	}
}

func FuzzSince(f *testing.F) {
	whole, _ := savedSince(f)
	f.Add(whole)
	f.Add(whole[:len(sinceMagic)+24])
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, snapshot, err := decodeSince(b); err == nil {
			s.decided.outputs(1)
			snapshot.Amended(nil).Changed(t.Context())
		}
	})
}
