package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// savedUnchanged returns the file of a record, and the record.
func savedUnchanged(t testing.TB) ([]byte, *unchanged) {
	t.Helper()
	path := filepath.Join(t.TempDir(), unchangedFile)
	u := &unchanged{Invocation: []byte{1, 2}, Salt: []byte("salt"), Store: "/store", Nodes: 7, ending: ending{Run: "run1", Shown: "a table\n"}}
	snapshot, err := cache.TakeSnapshot([]cache.Look{{Path: "/nowhere"}, {Path: t.TempDir(), Young: true}}, time.Now())
	if err == nil {
		err = writeUnchanged(path, u, snapshot)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, u
}

// TestUnchangedDamaged: one wrong bit, and what is missing or too much, make the
// record none.
func TestUnchangedDamaged(t *testing.T) {
	whole, want := savedUnchanged(t)
	u, snapshot, err := decodeUnchanged(whole)
	if err != nil || u.Shown != want.Shown || u.Run != want.Run || u.Nodes != want.Nodes || snapshot.Len() != 2 {
		t.Fatalf("%+v, %v", u, err)
	}
	for i := range whole {
		for bit := range 8 {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << bit
			if _, _, err := decodeUnchanged(bad); err == nil {
				t.Errorf("bit %d of byte %d is wrong, and nobody says so", bit, i)
			}
		}
		if _, _, err := decodeUnchanged(whole[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are a record", i, len(whole))
		}
	}
	if _, _, err := decodeUnchanged(append(whole, 0)); err == nil {
		t.Error("a byte more is a record")
	}
}

func FuzzUnchanged(f *testing.F) {
	whole, _ := savedUnchanged(f)
	f.Add(whole)
	f.Add(whole[:len(unchangedMagic)+20])
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, snapshot, err := decodeUnchanged(b); err == nil {
			snapshot.Amended(nil).Changed(t.Context())
		}
	})
}
