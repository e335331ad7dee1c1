package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
)

// random returns bytes that do not compress.
func random(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestShared: a machine with an empty store has the results that another one stored, and fetches no blob before it
// needs it.
func TestShared(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol string) {
		for _, f := range []remotetest.Faults{{}, {Compress: true}, {Compress: true, Truncated: true}, {Truncated: true}} {
			for _, size := range []int{1, 300_000, 5 << 20} {
				t.Run(fmt.Sprintf("%+v/%d", f, size), func(t *testing.T) {
					testShared(t, protocol, f, random(size))
				})
			}
		}
	})
}

func testShared(t *testing.T, protocol string, f remotetest.Faults, content []byte) {
	s, k := remotetest.Start(t), key(t, "ci")
	s.Fail(f)
	a := newMachine(t, s, protocol, "", remote.Options{Limit: patient, Signer: &k})
	want := store(t, a, "question", content)
	if sent, left := a.remote.Flush(context.Background()); sent != 1 || left != 0 {
		t.Fatalf("sent %d, left %d; warnings %v", sent, left, a.warned())
	}
	s.Forget()

	b := newMachine(t, s, protocol, "", remote.Options{Limit: patient, Trust: []remote.PublicKey{k.PublicKey}})
	got, err := served(t, b, "question")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("err %v; record %s", err, diff)
	}
	for _, o := range got.Outputs {
		if ok, err := b.Has(context.Background(), o.Digest); !ok || err != nil {
			t.Errorf("Has(%s) = %v, %v", o.Name, ok, err)
		}
	}
	if n := s.Calls("BatchReadBlobs") + s.Calls("ByteStream/Read") + s.Calls("GET cas"); n > 0 {
		t.Errorf("%d blobs were read before any was needed", n)
	}
	b.Fetch(context.Background(), got.Outputs)
	s.Forget()
	if ok := cache.Intact(context.Background(), b, got.Outputs[1]); !ok {
		t.Error("the tree is not whole")
	}
	if n := s.Calls("BatchReadBlobs") + s.Calls("ByteStream/Read") + s.Calls("GET cas"); n > 0 {
		t.Errorf("after Fetch there were still %d reads", n)
	}
	dir := t.TempDir()
	at, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := cache.PlaceTree(context.Background(), b, got.Outputs[1].Digest, at, "placed"); err != nil {
		t.Fatal(err)
	}
	if placed, err := os.ReadFile(filepath.Join(dir, "placed", "a", "b")); err != nil || !bytes.Equal(placed, content) {
		t.Errorf("the tree has other bytes, or %v", err)
	}
	if w := append(a.warned(), b.warned()...); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}
}

// TestComplete: a record with missing blobs is a miss.
func TestComplete(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol string) {
		s, k := remotetest.Start(t), key(t, "ci")
		a := newMachine(t, s, protocol, "", remote.Options{Limit: patient, Signer: &k})
		store(t, a, "question", random(100))
		a.remote.Flush(context.Background())
		s.Evict()
		b := newMachine(t, s, protocol, "", remote.Options{Limit: patient, Signer: &k})
		if r, err := served(t, b, "question"); r != nil || err != nil {
			t.Errorf("record %v, err %v", r, err)
		}
	})
}

// TestEvicted: a blob that is removed after it was found is missing, which the engine heals.
func TestEvicted(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol string) {
		s, k := remotetest.Start(t), key(t, "ci")
		a := newMachine(t, s, protocol, "", remote.Options{Limit: patient, Signer: &k})
		store(t, a, "question", random(100))
		a.remote.Flush(context.Background())
		b := newMachine(t, s, protocol, "", remote.Options{Limit: patient, Signer: &k})
		r, err := served(t, b, "question")
		if r == nil || err != nil {
			t.Fatalf("record %v, err %v", r, err)
		}
		s.Evict()
		b.Fetch(context.Background(), r.Outputs)
		_, err = b.Open(context.Background(), r.Outputs[0].Digest)
		var missing *cache.MissingError
		if !errors.As(err, &missing) {
			t.Errorf("err %v", err)
		}
		if ok, err := b.Has(context.Background(), r.Outputs[0].Digest); ok || err != nil {
			t.Errorf("Has = %v, %v", ok, err)
		}
	})
}

// TestInsist: a transfer outlasts failures of a server, and waits longer for it than a run.
func TestInsist(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol string) {
		s, k := remotetest.Start(t), key(t, "ci")
		transfer := func(m *machine) (repeated func() int32) {
			var n atomic.Int32
			s.Fail(remotetest.Faults{Down: true})
			m.remote.Insist(func(error) {
				n.Add(1)
				s.Fail(remotetest.Faults{Latency: time.Millisecond})
			})
			return n.Load
		}
		const limit = time.Nanosecond // a run would give up at once
		a := newMachine(t, s, protocol, "", remote.Options{Limit: limit, Signer: &k})
		repeated := transfer(a)
		stored := store(t, a, "question", []byte("answer"))
		if sent, left := a.remote.Flush(context.Background()); sent != 1 || left != 0 || repeated() == 0 {
			t.Errorf("sent %d, left %d, waited %d times: %v", sent, left, repeated(), a.warned())
		}
		b := newMachine(t, s, protocol, "", remote.Options{Limit: limit, Signer: &k})
		repeated = transfer(b)
		if r, err := served(t, b, "question"); r == nil || err != nil || repeated() == 0 {
			t.Fatalf("record %v, err %v, waited %d times", r, err, repeated())
		}
		if b.Fetch(context.Background(), stored.Outputs); len(b.warned()) > 0 {
			t.Error(b.warned())
		}
		if ok, err := b.disk.Has(context.Background(), stored.Outputs[0].Digest); !ok || err != nil {
			t.Errorf("the blob is here: %v, %v", ok, err)
		}
	})
}

// TestAskedTogether: many concurrent queries of nodes need few calls.
func TestAskedTogether(t *testing.T) {
	s, k := remotetest.Start(t), key(t, "ci")
	a := newMachine(t, s, "grpc", "", remote.Options{Limit: patient, Signer: &k})
	const n = 500
	for i := range n {
		store(t, a, fmt.Sprint("question ", i), fmt.Append(nil, i))
	}
	if sent, left := a.remote.Flush(context.Background()); sent != n || left != 0 {
		t.Fatalf("sent %d, left %d", sent, left)
	}
	s.Forget()
	b := newMachine(t, s, "grpc", "", remote.Options{Limit: patient, Signer: &k})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if r, err := served(t, b, fmt.Sprint("question ", i)); r == nil || err != nil {
				t.Errorf("%d: record %v, err %v", i, r, err)
			}
		})
	}
	group.Wait()
	if calls := s.Calls("FindMissingBlobs"); calls > n/4 {
		t.Errorf("%d calls for %d records", calls, n)
	}
	if calls := s.Calls("GetActionResult"); calls != n {
		t.Errorf("%d entries read for %d records", calls, n)
	}
}

// TestNamespaces: a pull request reads the records of main and writes its own, which main
// does not see.
func TestNamespaces(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol string) {
		s, main, pr := remotetest.Start(t), key(t, "main"), key(t, "pr-184")
		trust := []remote.PublicKey{main.PublicKey}
		of := func(k remote.PrivateKey, namespace string, others ...string) *machine {
			return newMachine(t, s, protocol, "", remote.Options{Limit: patient, Namespace: namespace, Others: others, Signer: &k, Trust: trust})
		}
		a := of(main, "main")
		store(t, a, "of main", random(10))
		a.remote.Flush(context.Background())
		b := of(pr, "pr-184", "main")
		store(t, b, "of pr", random(20))
		b.remote.Flush(context.Background())
		for manifest, want := range map[string]bool{"of main": true, "of pr": true} {
			if r, err := served(t, of(pr, "pr-184", "main"), manifest); (r != nil) != want || err != nil {
				t.Errorf("the pull request: %s: %v, %v", manifest, r, err)
			}
		}
		for manifest, want := range map[string]bool{"of main": true, "of pr": false} {
			if r, err := served(t, of(main, "main"), manifest); (r != nil) != want || err != nil {
				t.Errorf("main: %s: %v, %v", manifest, r, err)
			}
		}
		// A pull request that claims to be main.
		c := of(pr, "main")
		store(t, c, "claimed", random(30))
		c.remote.Flush(context.Background())
		r, err := served(t, of(main, "main"), "claimed")
		var foreign *cache.ForeignError
		if r != nil || !errors.As(err, &foreign) || foreign.By != "pr-184" {
			t.Errorf("main: claimed: %v, %v", r, err)
		}
	})
}

// TestReplaced: no result is sent without a key, a stranger's replaces none that others
// trust, and a trusted writer's replaces any.
func TestReplaced(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol string) {
		s, main, pr := remotetest.Start(t), key(t, "main"), key(t, "pr-184")
		trust := []remote.PublicKey{main.PublicKey}
		writes := func(signer *remote.PrivateKey, trust []remote.PublicKey, content string) (sent, left, unsigned int) {
			m := newMachine(t, s, protocol, "", remote.Options{Limit: patient, Signer: signer, Trust: trust})
			store(t, m, "question", []byte(content))
			sent, left = m.remote.Flush(t.Context())
			return sent, left, m.remote.Unsigned()
		}
		has := func(content string) {
			t.Helper()
			r, err := served(t, newMachine(t, s, protocol, "", remote.Options{Limit: patient, Trust: trust}), "question")
			if err != nil || r == nil || r.Outputs[0].Digest != cache.SumBytes([]byte(content)) {
				t.Errorf("others are served %v, %v, and not %s", r, err, content)
			}
		}
		writes(&pr, trust, "of pr, first")
		writes(&main, trust, "of main")
		has("of main")
		if sent, left, unsigned := writes(nil, nil, "of no one"); sent+left > 0 || unsigned != 1 {
			t.Errorf("without a key: sent %d, left %d, unsigned %d", sent, left, unsigned)
		}
		has("of main")
		if sent, left, _ := writes(&pr, trust, "of pr"); sent != 1 || left > 0 {
			t.Errorf("a stranger: sent %d, left %d", sent, left)
		}
		has("of main")
		writes(&main, trust, "of main, forced")
		has("of main, forced")
		// An incomplete entry serves no client.
		s.Evict()
		writes(&pr, trust, "of pr, last")
		r, err := served(t, newMachine(t, s, protocol, "", remote.Options{Limit: patient, Signer: &pr}), "question")
		if r == nil || err != nil {
			t.Errorf("the stranger is served %v, %v", r, err)
		}
	})
}
