package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// faults are the faults of servers during reads and during writes.
var faults = map[string]remotetest.Faults{
	"down":        {Down: true},
	"hangs":       {Hang: true},
	"slow":        {Latency: 2 * time.Second},
	"10 KB/s":     {Rate: 10 << 10},
	"full":        {Full: true},
	"wrong bytes": {Wrong: true},
	"evicts":      {Evicts: true},
	"no rights":   {Token: "Bearer other"},
	"read only":   {ReadOnly: true},
	"truncated":   {Truncated: true},
}

// mostDelay limits the time that a cache adds to a run, for a machine that is busy. On a quiet one it is
// less than 5 s.
const mostDelay = 30 * time.Second

// TestFaultsOfReads: with any fault, a store soon returns correct data or none, and warns at most once.
func TestFaultsOfReads(t *testing.T) {
	longtest.Skip(t)
	eachProtocol(t, func(t *testing.T, protocol string) {
		for name, f := range faults {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, k := remotetest.Start(t), key(t, "ci")
				a := newMachine(t, s, protocol, "", remote.Options{Signer: &k, Limit: patient})
				const n = 40
				for i := range n {
					store(t, a, fmt.Sprint("question ", i), random(20_000+i))
				}
				if _, left := a.remote.Flush(context.Background()); left > 0 {
					t.Fatalf("%d were not sent: %v", left, a.warned())
				}
				s.Fail(f)
				b := newMachine(t, s, protocol, "", remote.Options{Signer: &k})
				began := time.Now()
				var group sync.WaitGroup
				for i := range n {
					group.Go(func() { readsTruth(t, b, fmt.Sprint("question ", i)) })
				}
				group.Wait()
				if took := time.Since(began); took > mostDelay {
					t.Errorf("it took %v", took)
				}
				if w := b.warned(); len(w) > 1 {
					t.Errorf("warnings: %v", w)
				}
			})
		}
	})
}

// readsTruth reads an answer and all that belongs to it.
func readsTruth(t *testing.T, m *machine, manifest string) {
	ctx := context.Background()
	r, err := served(t, m, manifest)
	if err != nil {
		t.Errorf("%s: %v", manifest, err)
	}
	if r == nil {
		return
	}
	if r.Class != cache.ClassDone || string(r.Manifest) != manifest {
		t.Errorf("%s: another answer: %v", manifest, r)
	}
	m.Fetch(ctx, r.Outputs)
	for _, o := range r.Outputs {
		content, err := m.Open(ctx, o.Digest)
		var missing *cache.MissingError
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", manifest, err)
			continue
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			t.Errorf("%s: %v", manifest, err)
		}
		content.Close()
	}
}

// TestFaultsOfWrites: with any fault, sending ends soon, and remaining blobs are counted.
func TestFaultsOfWrites(t *testing.T) {
	longtest.Skip(t)
	eachProtocol(t, func(t *testing.T, protocol string) {
		for name, f := range faults {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, k := remotetest.Start(t), key(t, "ci")
				s.Fail(f)
				a := newMachine(t, s, protocol, "", remote.Options{Signer: &k})
				const n = 40
				for i := range n {
					store(t, a, fmt.Sprint("question ", i), random(20_000+i))
				}
				began := time.Now()
				sent, left := a.remote.Flush(context.Background())
				if took := time.Since(began); took > mostDelay {
					t.Errorf("it took %v", took)
				}
				if sent+left != n {
					t.Errorf("sent %d and left %d of %d", sent, left, n)
				}
				if entries, _ := s.Holds(); entries < sent {
					t.Errorf("sent %d, and %d are there", sent, entries)
				}
				if w := a.warned(); len(w) > 1 || left > 0 && len(w) == 0 {
					t.Errorf("left %d, warnings: %v", left, w)
				}
			})
		}
	})
}

// TestStopsInTheMiddle: a server that was fast and stops costs no more than a server that never answers.
func TestStopsInTheMiddle(t *testing.T) {
	longtest.Skip(t)
	eachProtocol(t, func(t *testing.T, protocol string) {
		s, k := remotetest.Start(t), key(t, "ci")
		a := newMachine(t, s, protocol, "", remote.Options{Signer: &k, Limit: patient})
		const n = 100
		for i := range n {
			store(t, a, fmt.Sprint("question ", i), random(100+i))
		}
		a.remote.Flush(context.Background())
		b := newMachine(t, s, protocol, "", remote.Options{Signer: &k})
		for i := range n / 2 {
			if r, err := served(t, b, fmt.Sprint("question ", i)); r == nil || err != nil {
				t.Fatalf("%d: %v, %v", i, r, err)
			}
		}
		s.Fail(remotetest.Faults{Hang: true})
		began := time.Now()
		for i := n / 2; i < n; i++ {
			if r, err := served(t, b, fmt.Sprint("question ", i)); r != nil || err != nil {
				t.Fatalf("%d: %v, %v", i, r, err)
			}
		}
		if took := time.Since(began); took > mostDelay {
			t.Errorf("it took %v", took)
		}
		if w := b.warned(); len(w) != 1 {
			t.Errorf("warnings: %v", w)
		}
	})
}

// TestInterrupted: an interrupted run does not wait for a cache.
func TestInterrupted(t *testing.T) {
	s, k := remotetest.Start(t), key(t, "ci")
	s.Fail(remotetest.Faults{Hang: true})
	a := newMachine(t, s, "grpc", "", remote.Options{Signer: &k})
	store(t, a, "question", random(10))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if sent, left := a.remote.Flush(ctx); sent != 0 || left != 1 {
		t.Errorf("sent %d, left %d", sent, left)
	}
	if r, err := a.remote.Record(ctx, hashManifest("another")); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}

// failing is a source where one blob cannot be opened, and another not be read to its end.
type failing struct {
	content         map[cache.Digest][]byte
	absent, damaged cache.Digest
}

var errDamaged = errors.New("damaged")

func (f *failing) Open(_ context.Context, d cache.Digest) (io.ReadCloser, error) {
	switch d {
	case f.absent:
		return nil, &cache.MissingError{Digest: d}
	case f.damaged:
		half := bytes.NewReader(f.content[d][:d.Size/2])
		return io.NopCloser(io.MultiReader(half, iotest.ErrReader(errDamaged))), nil
	}
	return io.NopCloser(bytes.NewReader(f.content[d])), nil
}

// TestUnreadable: of a batch, blobs that cannot be read here are refused, and no others.
func TestUnreadable(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol string) {
		s := remotetest.Start(t)
		transport := dial(t, s, protocol, "")
		defer transport.Close()
		from := &failing{content: map[cache.Digest][]byte{}}
		var all []cache.Digest
		for i := range 200 {
			content := random(50_000 + i)
			all = append(all, cache.SumBytes(content))
			from.content[all[i]] = content
		}
		from.absent, from.damaged = all[0], all[1]
		refused, err := transport.Put(t.Context(), all, from)
		if err != nil || len(refused) != 2 {
			t.Fatalf("%d refused, %v", len(refused), err)
		}
		var own *cache.SourceError
		var missing *cache.MissingError
		if why := refused[from.absent]; !errors.As(why, &own) || !errors.As(why, &missing) {
			t.Errorf("the absent one: %v", why)
		}
		if why := refused[from.damaged]; !errors.As(why, &own) || !errors.Is(why, errDamaged) {
			t.Errorf("the damaged one: %v", why)
		}
		if _, blobs := s.Holds(); blobs != len(all)-2 {
			t.Errorf("%d of %d blobs were sent", blobs, len(all))
		}
	})
}

// TestOneWrong: of a batch, a blob whose bytes are wrong is missing, and no other.
func TestOneWrong(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol string) {
		s := remotetest.Start(t)
		m := newMachine(t, s, protocol, "", remote.Options{Limit: patient})
		var outputs []cache.Output
		for i := range 200 {
			content := random(50_000 + i)
			outputs = append(outputs, cache.Output{Digest: cache.SumBytes(content)})
			s.Put(content)
		}
		s.Damage(outputs[0].Digest.Hex())
		m.Fetch(t.Context(), outputs)
		for i, o := range outputs {
			if ok, err := m.disk.Has(t.Context(), o.Digest); err != nil || ok != (i > 0) {
				t.Errorf("blob %d: %v, %v", i, ok, err)
			}
		}
	})
}
