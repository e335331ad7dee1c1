package cache

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// memoryServer is a server in memory.
type memoryServer struct {
	mu    sync.Mutex
	held  map[Digest][]byte
	puts  []Digest      // all blobs that were sent
	open  chan struct{} // blocks Missing until it is closed; nil means Missing never blocks
	fails error
}

func (s *memoryServer) Missing(_ context.Context, blobs []Digest) (missing []Digest, err error) {
	if s.open != nil {
		<-s.open
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range blobs {
		if s.held[d] == nil {
			missing = append(missing, d)
		}
	}
	return missing, s.fails
}

func (s *memoryServer) Put(ctx context.Context, blobs []Digest, from Source) (map[Digest]error, error) {
	failed := map[Digest]error{}
	for _, d := range blobs {
		r, err := from.Open(ctx, d)
		if err != nil {
			failed[d] = &SourceError{d, err}
			continue
		}
		content, _ := io.ReadAll(r)
		r.Close()
		s.mu.Lock()
		s.held[d], s.puts = content, append(s.puts, d)
		s.mu.Unlock()
	}
	return failed, nil
}

func storeTexts(t *testing.T, s Store, texts ...string) (all []Digest) {
	t.Helper()
	for _, text := range texts {
		d, err := PutBytes(t.Context(), s, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// Callers that wait while all rounds run share the next, and each learns only about the blobs that it sent.
func TestSenderShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemory()
		blobs := storeTexts(t, store, "a", "b", "c", "d", "e", "f")
		lost := SumBytes([]byte("lost"))
		to := &memoryServer{held: map[Digest][]byte{}, open: make(chan struct{})}
		s := NewSender(to, 2)
		var group sync.WaitGroup
		for i := range rounds { // the blobs from here on are collected
			group.Go(func() {
				if err := s.Blobs(t.Context(), store, blobs[i]); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for range 3 {
			group.Go(func() {
				if err := s.Blobs(t.Context(), store, blobs...); err != nil {
					t.Errorf("next to a lost blob: %v", err)
				}
			})
			group.Go(func() {
				var missing *MissingError
				if err := s.Blobs(t.Context(), store, blobs[4], lost); !errors.As(err, &missing) || missing.Digest != lost {
					t.Errorf("the lost blob: %v", err)
				}
			})
		}
		synctest.Wait()
		close(to.open)
		group.Wait()
		slices.SortFunc(to.puts, func(a, b Digest) int { return slices.Index(blobs, a) - slices.Index(blobs, b) })
		if !slices.Equal(to.puts, blobs) {
			t.Errorf("sent %v, want each of %v once", to.puts, blobs)
		}
	})
}

// After a failure of the server, the next call sends the remaining blobs.
func TestSenderAfterFailure(t *testing.T) {
	store := NewMemory()
	blobs := storeTexts(t, store, "a", "")
	to := &memoryServer{held: map[Digest][]byte{}, fails: errors.New("away")}
	s := NewSender(to, 10)
	if err := s.Blobs(t.Context(), store, blobs...); !errors.Is(err, to.fails) {
		t.Error(err)
	}
	to.fails = nil
	for range 2 {
		if err := s.Blobs(t.Context(), store, blobs...); err != nil || len(to.puts) != 1 {
			t.Errorf("sent %v, %v", to.puts, err)
		}
	}
	s.SendEmpty = true
	if err := s.Blobs(t.Context(), store, blobs...); err != nil || len(to.puts) != 2 {
		t.Errorf("with the empty blob: sent %v, %v", to.puts, err)
	}
}
