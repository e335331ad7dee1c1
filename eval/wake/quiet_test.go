package wake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A burst is over when nothing has happened for a while, and not sooner.
func TestQuietWaitsForTheEndOfABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, began := make(chan struct{}), time.Now()
		go func() {
			for range 10 {
				time.Sleep(quietPeriod - time.Millisecond)
				events <- struct{}{}
			}
		}()
		if err := quiet(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		if took, want := time.Since(began), 10*(quietPeriod-time.Millisecond)+quietPeriod; took != want {
			t.Errorf("it took %v, want %v", took, want)
		}
	})
}

// A project that never stops changing is still evaluated.
func TestQuietEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		events, began := make(chan struct{}), time.Now()
		go func() {
			for ctx.Err() == nil {
				time.Sleep(quietPeriod / 2)
				select {
				case events <- struct{}{}:
				case <-ctx.Done():
				}
			}
		}()
		if err := quiet(ctx, events); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != maxBurst {
			t.Errorf("it took %v, want %v", took, maxBurst)
		}
		cancel()
		synctest.Wait()
	})
}

func TestQuietIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		if err := quiet(ctx, make(chan struct{})); !errors.Is(err, stop) {
			t.Errorf("%v, want %v", err, stop)
		}
	})
}

// Without any event a caller looks from time to time.
func TestNextLooks(t *testing.T) {
	for _, every := range []time.Duration{seldom, Often} {
		synctest.Test(t, func(t *testing.T) {
			s, began := &Source{events: make(chan struct{}, 1), every: every}, time.Now()
			if err := s.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != every {
				t.Errorf("it took %v, want %v", took, every)
			}
		})
	}
}
