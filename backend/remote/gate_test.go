package remote

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// An engine that takes no more halves what is under way; afterwards it grows again.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8)
		for range 8 {
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		full, cancel := context.WithTimeoutCause(t.Context(), time.Second, errStop)
		defer cancel()
		if err := g.enter(full); !errors.Is(err, errStop) {
			t.Errorf("a ninth went in: %v", err)
		}
		began := time.Now()
		g.leave(true, 3*time.Second)
		for range 7 {
			g.leave(false, 0)
		}
		if err := g.enter(t.Context()); err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("the next went in after %v, %v", time.Since(began), err)
		}
		at := int(g.bound)
		if at < 4 || at > 6 {
			t.Errorf("%d may go in after one of 8 was not taken, and 7 were", at)
		}
		g.leave(false, 0)
		for range 100 {
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			g.leave(false, 0)
		}
		if g.bound != 8 {
			t.Errorf("it has not recovered: %v", g.bound)
		}
	})
}

var errStop = errors.New("stop")
