package keypool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func keys(n int) []Key {
	var all []Key
	for i := range n {
		all = append(all, Key{fmt.Sprintf("secret.k%d", i), fmt.Sprintf("sk-%d", i)})
	}
	return all
}

func take(t *testing.T, p *Pool) *Lease {
	t.Helper()
	l, err := p.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Many requests take no longer than the limits of all keys together require, and no key exceeds its requests in any
// minute.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests, each, perMinute = 1000, 8, 60
		p := New(keys(each), Limits{PerMinute: perMinute})
		began := map[string][]time.Time{}
		start := time.Now()
		var mu sync.Mutex
		var all sync.WaitGroup
		for range requests {
			all.Go(func() {
				l := take(t, p)
				mu.Lock()
				began[l.Key()] = append(began[l.Key()], time.Now())
				mu.Unlock()
				time.Sleep(700 * time.Millisecond)
				l.Done()
			})
		}
		all.Wait()
		ideal := time.Duration(requests) * time.Minute / (each * perMinute)
		if took := time.Since(start); took > ideal*11/10 {
			t.Errorf("took %v, ideal is %v", took, ideal)
		}
		for key, times := range began {
			for i := perMinute; i < len(times); i++ {
				if d := times[i].Sub(times[i-perMinute]); d < time.Minute {
					t.Fatalf("%s began %d requests in %v", key, perMinute+1, d)
				}
			}
		}
	})
}

func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(keys(2), Limits{Concurrency: 3})
		var held []*Lease
		uses := map[string]int{}
		for range 6 {
			l := take(t, p)
			uses[l.Key()]++
			held = append(held, l)
		}
		if uses["sk-0"] != 3 || uses["sk-1"] != 3 {
			t.Errorf("%v", uses)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := p.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a seventh request: %v", err)
		}
		held[4].Done()
		if l := take(t, p); l.Key() != held[4].Key() {
			t.Errorf("got %s", l.Key())
		}
	})
}

// A throttled key rests for as long as the endpoint demands; others serve meanwhile.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(keys(2), Limits{})
		start := time.Now()
		first := take(t, p)
		if note := first.Throttled(40*time.Second, "429 Too Many Requests"); note != "" {
			t.Errorf("got %q", note)
		}
		for range 3 {
			if l := take(t, p); l.Key() == first.Key() {
				t.Errorf("%s serves although it rests", l.Key())
			} else {
				l.Done()
			}
		}
		other := take(t, p)
		other.Throttled(time.Minute, "429 Too Many Requests")
		if l, waited := take(t, p), time.Since(start); l.Key() != first.Key() || waited != 40*time.Second {
			t.Errorf("%s after %v", l.Key(), waited)
		}
	})
}

// Without a time to wait, rests double, up to a bound; a key that never serves is put aside.
func TestRestsDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(keys(1), Limits{})
		last, note := time.Now(), ""
		var rests []time.Duration
		for note == "" {
			l := take(t, p)
			rests = append(rests, time.Since(last))
			last = time.Now()
			note = l.Throttled(0, "429 Too Many Requests")
		}
		if got := fmt.Sprint(rests[:9]); got != "[0s 1s 2s 4s 8s 16s 32s 1m0s 1m0s]" {
			t.Error(got)
		}
		if note != "the API key of secret.k0 is put aside: 429 Too Many Requests, 20 times in a row" {
			t.Error(note)
		}
	})
}

func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(keys(3), Limits{Concurrency: 1})
		bad, longRest, good := take(t, p), take(t, p), take(t, p)
		if note := bad.Refused("401 Unauthorized"); note != "the API key of secret.k0 is put aside: 401 Unauthorized" {
			t.Errorf("got %q", note)
		}
		if note := longRest.Throttled(24*time.Hour, "429 Too Many Requests"); !strings.Contains(note, "for 24h0m0s") {
			t.Errorf("got %q", note)
		}
		good.Done()
		good = take(t, p)
		errs := make(chan error)
		for range 2 {
			go func() { _, err := p.Take(t.Context()); errs <- err }()
		}
		synctest.Wait()
		good.Refused("403 Forbidden")
		for range 2 {
			var none *NoKeysError
			if err := <-errs; !errors.As(err, &none) || strings.Contains(err.Error(), "sk-") || len(none.Aside) != 3 {
				t.Error(err)
			}
		}
	})
}

// Who gives up waiting takes no key from the others.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(keys(1), Limits{Concurrency: 1})
		held := take(t, p)
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error)
		go func() { _, err := p.Take(ctx); failed <- err }()
		synctest.Wait()
		why := errors.New("no more")
		cancel(why)
		if err := <-failed; !errors.Is(err, why) {
			t.Error(err)
		}
		held.Done()
		take(t, p).Done()
	})
}
