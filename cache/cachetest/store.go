package cachetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/fevalgraph/fevalgraph/cache"
)

// TestStore runs the suite. open returns a new, empty store each time.
func TestStore(t *testing.T, open func(t *testing.T) cache.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, cache.Store)
	}{
		{"blobs come back", blobsComeBack},
		{"the digest is of the content", digestIsOfContent},
		{"a missing blob is a MissingError", missingBlob},
		{"a wrong size names nothing", wrongSize},
		{"a failed Put leaves nothing", failedPut},
		{"a cancelled context stops", cancelled},
		{"records come back", recordsComeBack},
		{"a record is not shared memory", recordsAreCopies},
		{"a later record replaces", laterRecordReplaces},
		{"a record needs its blobs", recordNeedsBlobs},
		{"only stored classes are records", onlyStoredClasses},
		{"trees come back", treesComeBack},
		{"concurrent use", concurrentUse},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// samples returns contents of every interesting size.
func samples() [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	big := make([]byte, 3<<20+17)
	for i := range big {
		big[i] = byte(random.Uint32())
	}
	return [][]byte{{}, {0}, []byte("text\n"), bytes.Repeat([]byte("0123456789abcdef"), 4096), big}
}

func put(t *testing.T, s cache.Store, b []byte) cache.Digest {
	t.Helper()
	g, err := cache.PutBytes(t.Context(), s, b)
	if err != nil {
		t.Fatalf("Put of %d bytes: %v", len(b), err)
	}
	return g
}

func blobsComeBack(t *testing.T, s cache.Store) {
	for _, want := range samples() {
		for range 2 { // the second Put finds it there
			g := put(t, s, want)
			if ok, err := s.Has(t.Context(), g); !ok || err != nil {
				t.Errorf("Has(%s) = %v, %v after Put", g, ok, err)
			}
			r, err := s.Open(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(iotest.OneByteReader(io.LimitReader(r, 100)))
			if err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, rest...); !bytes.Equal(got, want) {
				t.Errorf("%d bytes came back as %d others", len(want), len(got))
			}
			if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("Read after the end = %d, %v; want io.EOF again", n, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func digestIsOfContent(t *testing.T, s cache.Store) {
	for _, b := range samples() {
		for name, r := range map[string]io.Reader{
			"plain":         bytes.NewReader(b),
			"half reads":    iotest.HalfReader(bytes.NewReader(b)),
			"data with EOF": iotest.DataErrReader(bytes.NewReader(b)),
		} {
			g, err := s.Put(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if want := cache.SumBytes(b); g != want {
				t.Errorf("%s: Put = %s, want %s", name, g, want)
			}
		}
	}
}

func missingBlob(t *testing.T, s cache.Store) {
	g := cache.SumBytes([]byte("never put"))
	if ok, err := s.Has(t.Context(), g); ok || err != nil {
		t.Errorf("Has = %v, %v; want false, nil", ok, err)
	}
	_, err := s.Open(t.Context(), g)
	wantMissing(t, err, g)
	_, err = cache.ReadBlob(t.Context(), s, g, -1)
	wantMissing(t, err, g)
}

func wantMissing(t *testing.T, err error, g cache.Digest) {
	t.Helper()
	var missing *cache.MissingError
	if !errors.As(err, &missing) || missing.Digest != g {
		t.Errorf("error is %v; want a MissingError for %s", err, g)
	}
}

func wrongSize(t *testing.T, s cache.Store) {
	g := put(t, s, []byte("some bytes"))
	for _, size := range []int64{0, g.Size - 1, g.Size + 1} {
		wrong := g
		wrong.Size = size
		if ok, err := s.Has(t.Context(), wrong); ok || err != nil {
			t.Errorf("Has(%s) = %v, %v; want false, nil", wrong, ok, err)
		}
		_, err := s.Open(t.Context(), wrong)
		wantMissing(t, err, wrong)
	}
	if b, err := cache.ReadBlob(t.Context(), s, g, -1); err != nil || string(b) != "some bytes" {
		t.Errorf("asking with wrong sizes cost the blob: %q, %v", b, err)
	}
}

func failedPut(t *testing.T, s cache.Store) {
	content := strings.Repeat("half of it", 100_000)
	broken := errors.New("cable pulled")
	_, err := s.Put(t.Context(), io.MultiReader(strings.NewReader(content), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("Put = %v; want the reader's error", err)
	}
	g := cache.SumBytes([]byte(content))
	if ok, _ := s.Has(t.Context(), g); ok {
		t.Error("what was read before the error is visible")
	}
}

func cancelled(t *testing.T, s cache.Store) {
	g := put(t, s, []byte("x"))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, putErr := s.Put(ctx, strings.NewReader("y"))
	_, openErr := s.Open(ctx, g)
	_, hasErr := s.Has(ctx, g)
	_, recordErr := s.Record(ctx, cache.Key{1})
	for name, err := range map[string]error{
		"Put": putErr, "Open": openErr, "Has": hasErr, "Record": recordErr,
		"PutRecord": s.PutRecord(ctx, cache.Key{1}, record(g)),
	} {
		if !errors.Is(err, cause) {
			t.Errorf("%s = %v; want the cause of the cancellation", name, err)
		}
	}
}

func record(outputs ...cache.Digest) *cache.Record {
	r := &cache.Record{Class: cache.ClassDone, Message: "said ü\n\"so\"", Attempts: 2, Seconds: 0.1, Run: "r1"}
	for i, g := range outputs {
		r.Outputs = append(r.Outputs, cache.Output{Name: fmt.Sprint("out", i), Digest: g, Tree: i%2 == 1})
	}
	return r
}

func recordsComeBack(t *testing.T, s cache.Store) {
	k := cache.Key{1, 2, 3}
	if r, err := s.Record(t.Context(), k); r != nil || err != nil {
		t.Errorf("Record of an unknown key = %v, %v; want nil, nil", r, err)
	}
	for _, want := range []*cache.Record{
		record(),
		record(put(t, s, []byte("a")), put(t, s, nil)),
		{Class: cache.ClassFailed},
		{Class: cache.ClassTimeout, Seconds: 1e9},
	} {
		if err := s.PutRecord(t.Context(), k, want); err != nil {
			t.Fatal(err)
		}
		got, err := s.Record(t.Context(), k)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Record = %+v, %v; want %+v", got, err, want)
		}
	}
	if r, err := s.Record(t.Context(), cache.Key{1, 2, 4}); r != nil || err != nil {
		t.Errorf("a neighbour's record = %v, %v; want nil, nil", r, err)
	}
}

func recordsAreCopies(t *testing.T, s cache.Store) {
	k := cache.Key{7}
	mine := record(put(t, s, []byte("a")))
	if err := s.PutRecord(t.Context(), k, mine); err != nil {
		t.Fatal(err)
	}
	want := record(mine.Outputs[0].Digest)
	mine.Outputs[0].Name = "changed after PutRecord"
	got, err := s.Record(t.Context(), k)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("Record = %+v, %v; want %+v", got, err, want)
	}
	got.Outputs[0].Name = "changed after Record"
	if got, _ = s.Record(t.Context(), k); !reflect.DeepEqual(got, want) {
		t.Errorf("Record = %+v; want %+v", got, want)
	}
}

func laterRecordReplaces(t *testing.T, s cache.Store) {
	k := cache.Key{9}
	for _, attempts := range []int{1, 2, 3} {
		r := record()
		r.Attempts = attempts
		if err := s.PutRecord(t.Context(), k, r); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := s.Record(t.Context(), k); err != nil || r.Attempts != 3 {
		t.Errorf("Record = %+v, %v; want the third", r, err)
	}
}

func recordNeedsBlobs(t *testing.T, s cache.Store) {
	there, gone := put(t, s, []byte("there")), cache.SumBytes([]byte("gone"))
	k := cache.Key{5}
	wantMissing(t, s.PutRecord(t.Context(), k, record(there, gone)), gone)
	if r, err := s.Record(t.Context(), k); r != nil || err != nil {
		t.Errorf("Record = %v, %v after a refused PutRecord; want nil, nil", r, err)
	}
}

func onlyStoredClasses(t *testing.T, s cache.Store) {
	for _, class := range []cache.Class{"", "broken", "Done"} {
		if err := s.PutRecord(t.Context(), cache.Key{6}, &cache.Record{Class: class}); err == nil {
			t.Errorf("PutRecord took class %q", class)
		}
	}
	if err := s.PutRecord(t.Context(), cache.Key{6}, nil); err == nil {
		t.Error("PutRecord took nil")
	}
}

func treesComeBack(t *testing.T, s cache.Store) {
	file := put(t, s, []byte("content"))
	want := []cache.Entry{
		{Path: "a", Dir: true},
		{Path: "a/empty", Dir: true},
		{Path: "a/file", Digest: file},
		{Path: "a-file", Digest: file, Executable: true},
		{Path: "link", Link: "../outside"},
	}
	tree, err := cache.BuildTree(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Store(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := cache.TreeComplete(t.Context(), s, tree.Root); err != nil {
		t.Errorf("TreeComplete = %v", err)
	}
	var got []cache.Entry
	err = cache.WalkTree(t.Context(), s, tree.Root, func(e cache.Entry) error {
		got = append(got, e)
		return nil
	})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("WalkTree gave %+v, %v; want %+v", got, err, want)
	}
}

func concurrentUse(t *testing.T, s cache.Store) {
	const workers, rounds, contents = 8, 60, 10
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 0))
			for range rounds {
				i := random.IntN(contents)
				b := bytes.Repeat([]byte{byte(i)}, 1+i*5000)
				g, err := cache.PutBytes(t.Context(), s, b)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := cache.ReadBlob(t.Context(), s, g, -1)
				if err != nil || !bytes.Equal(got, b) {
					t.Errorf("read %d bytes of %d, %v", len(got), len(b), err)
				}
				k := cache.Key{byte(i)}
				if err := s.PutRecord(t.Context(), k, record(g)); err != nil {
					t.Error(err)
				}
				r, err := s.Record(t.Context(), k)
				if err != nil || r == nil || r.Outputs[0].Digest != g {
					t.Errorf("Record = %+v, %v", r, err)
				}
			}
		})
	}
	wg.Wait()
}
