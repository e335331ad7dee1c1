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
		g := newGate(8, func(string) {})
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
		g.leave(engineRefused, 3*time.Second)
		for range 7 {
			g.leave(engineAccepted, 0)
		}
		if err := g.enter(t.Context()); err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("the next went in after %v, %v", time.Since(began), err)
		}
		at := int(g.limit)
		if at < 4 || at > 6 {
			t.Errorf("%d can enter after 7 of 8 were accepted", at)
		}
		g.leave(engineAccepted, 0)
		for range 100 {
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			g.leave(engineAccepted, 0)
		}
		if g.limit != 8 {
			t.Errorf("it has not recovered: %v", g.limit)
		}
	})
}

var errStop = errors.New("stop")

// An engine that accepts no action is reported once, as is its recovery. While one of this backend's actions executes,
// the others wait for it.
func TestGateNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		g := newGate(8, func(text string) { said = append(said, text) })
		enter := func() {
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		enter()
		enter()
		g.leave(engineRefused, 0)
		if since := g.busySince(); !since.IsZero() {
			t.Errorf("busy since %v, though an action is executed", since)
		}
		g.leave(engineAccepted, 0)
		began := time.Now()
		for range 3 {
			enter()
			g.leave(engineRefused, queueNotice)
		}
		if since := g.busySince(); time.Since(since) != 2*queueNotice || len(said) != 1 {
			t.Errorf("busy for %v after %v: %q", time.Since(since), time.Since(began), said)
		}
		enter()
		g.leave(engineRefused, time.Hour)
		again := time.Now()
		enter()
		if paused := time.Since(again); paused != longestPause {
			t.Errorf("the next went in after %v", paused)
		}
		g.leave(engineAccepted, 0)
		if len(said) != 2 || !g.busySince().IsZero() {
			t.Errorf("printed %q, busy since %v", said, g.busySince())
		}
	})
}

// While a server is away, it is unknown whether the engine takes actions.
func TestGateUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8, func(string) {})
		for _, a := range []answer{engineRefused, noAnswer, engineRefused, noAnswer} {
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			g.leave(a, 0)
		}
		if since := g.busySince(); since.IsZero() || time.Since(since) < 3*time.Second {
			t.Errorf("busy since %v", since)
		}
	})
}
