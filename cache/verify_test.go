package cache

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func TestVerify(t *testing.T) {
	d := openDisk(t)
	good, bad := putBytes(t, d, []byte("good")), putBytes(t, d, []byte("bad"))
	gone := putBytes(t, d, []byte("gone"))
	inTree := func(g Digest) Digest {
		tree, err := BuildTree([]Entry{{Path: "sub/file", Digest: g}})
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Store(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		return tree.Root
	}
	outputs := [][]Output{
		{},
		{{Name: "good", Digest: good}},
		{{Name: "good", Digest: inTree(good), Tree: true}},
		{{Name: "good", Digest: good}, {Name: "bad", Digest: bad}},
		{{Name: "bad", Digest: inTree(bad), Tree: true}},
		{{Name: "gone", Digest: gone}},
		{{Name: "gone", Digest: inTree(gone), Tree: true}},
		{{Name: "no directory", Digest: good, Tree: true}},
	}
	var dangling []string
	for i, o := range outputs {
		k := Key{byte(i)}
		if err := d.PutRecord(t.Context(), k, &Record{Class: ClassDone, Outputs: o}); err != nil {
			t.Fatal(err)
		}
		if i >= 3 {
			dangling = append(dangling, "ac/"+k.String()[:2]+"/"+k.String())
		}
	}
	overwrite(t, d.blobPath(bad), []byte("BAD"))
	if err := os.Remove(d.blobPath(gone)); err != nil {
		t.Fatal(err)
	}
	torn := Key{0x70}
	if err := d.PutRecord(t.Context(), torn, &Record{Class: ClassDone}); err != nil {
		t.Fatal(err)
	}
	overwrite(t, d.recordPath(torn), []byte(recordMagic))
	foreign := Key{0x71}
	if err := d.PutRecord(t.Context(), foreign, &Record{Class: ClassDone}); err != nil {
		t.Fatal(err)
	}
	overwrite(t, d.recordPath(foreign), []byte(recordMagic+"9 something newer\n"))
	stray := "cas/" + good.Hex()[:2] + "/notes.txt"
	overwriteNew(t, d.path(filepath.FromSlash(stray)), "not a blob")

	corrupt := []string{stray, "cas/" + bad.Hex()[:2] + "/" + bad.Hex()}
	slices.Sort(corrupt)
	corrupt = append(corrupt, "ac/70/"+torn.String())
	want := VerifyReport{Blobs: 2 + 1 + 6, Records: 10, Corrupt: corrupt, Dangling: dangling}

	before := listing(t, d.Dir())
	for _, repair := range []bool{false, true} {
		var last int64
		got, err := d.Verify(t.Context(), repair, func(done int64) {
			if done != last+1 {
				t.Errorf("progress went from %d to %d", last, done)
			}
			last = done
		})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("repair %v: %+v, %v\nwant %+v", repair, got, err, want)
		}
		if last != want.Blobs+want.Records {
			t.Errorf("progress ended at %d", last)
		}
		if !repair && !equalMaps(before, listing(t, d.Dir())) {
			t.Error("looking changed the store")
		}
	}
	after, err := d.Verify(t.Context(), false, nil)
	if want := (VerifyReport{Blobs: 7, Records: 4}); err != nil || !reflect.DeepEqual(after, want) {
		t.Errorf("after repair: %+v, %v; want %+v", after, err, want)
	}
}

func TestStats(t *testing.T) {
	d := openDisk(t)
	if s, err := d.Stats(t.Context()); s != (Stats{}) || err != nil {
		t.Errorf("empty: %+v, %v", s, err)
	}
	old, young := putBytes(t, d, []byte("12345")), putBytes(t, d, []byte("1234567"))
	if err := d.PutRecord(t.Context(), Key{1}, &Record{Class: ClassDone}); err != nil {
		t.Fatal(err)
	}
	age(t, d.blobPath(old), 1000*touchInterval)
	age(t, d.blobPath(young), -touchInterval/2)
	want := Stats{
		Blobs: 2, BlobBytes: 12,
		Records: 1, RecordBytes: lstat(t, d.recordPath(Key{1})).Size(),
		Oldest: lstat(t, d.blobPath(old)).ModTime(), Newest: lstat(t, d.blobPath(young)).ModTime(),
	}
	if s, err := d.Stats(t.Context()); s != want || err != nil {
		t.Errorf("%+v, %v; want %+v", s, err, want)
	}
}
