// Package keypool hands out API keys to concurrent requests, each key within its limits. A key that is
// throttled rests, and a refused one is set aside for good. The package does not know what the keys
// are for, and no text that it makes contains one.
//
//	lease, err := pool.Take(ctx)
//	...                       // a request with lease.Key()
//	lease.Done()              // or Failed, Throttled, Refused
package keypool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits are the limits of each key; 0 means no limit.
type Limits struct {
	PerMinute   int // requests that begin within a minute
	Concurrency int // requests under way at once
}

// Key is an API key.
type Key struct {
	Name  string // display name: "secret.lab"
	Value string
}

// What becomes of a key that is throttled.
const (
	firstRest  = time.Second      // without a given length; it doubles
	longestOwn = time.Minute      // of rests without a given length
	longest    = 15 * time.Minute // a key that has to rest for longer is set aside
	mostRests  = 20               // so often in a row, and the key is set aside
)

// NoKeysError means that every key has been put aside.
type NoKeysError struct{ Aside []string } // "secret.lab: 401 Unauthorized"

func (e *NoKeysError) Error() string {
	return "no API key is left: " + strings.Join(e.Aside, "; ")
}

// Pool is a set of keys. It is safe for concurrent use.
type Pool struct {
	limits   Limits
	interval time.Duration // between the beginnings of requests with one key

	mu      sync.Mutex
	keys    []*state
	waiting []*waiter // in order of arrival
	alarm   *time.Timer
}

// state is a key and its history.
type state struct {
	Key
	next   time.Time // earliest time of a request by the pace
	rests  time.Time // until which it is throttled
	inARow int       // times that it was throttled since it last served
	active int
	used   uint64 // number of the last lease: the longest unused key is next
	aside  string // why it is set aside; "" while it is in use
}

type waiter struct {
	lease chan *Lease // of capacity 1; closed without a lease when no key is left
}

// New returns a pool of at least one key.
func New(keys []Key, limits Limits) *Pool {
	p := &Pool{limits: limits}
	if limits.PerMinute > 0 {
		p.interval = time.Minute / time.Duration(limits.PerMinute)
	}
	for _, k := range keys {
		p.keys = append(p.keys, &state{Key: k})
	}
	p.alarm = time.AfterFunc(longest, p.ring)
	p.alarm.Stop()
	return p
}

// Lease is the right to send one request with a key. Exactly one of its methods Done, Failed,
// Throttled and Refused ends it.
type Lease struct {
	pool *Pool
	key  *state
}

// Key returns the key's value.
func (l *Lease) Key() string { return l.key.Value }

// Take waits until a key can be used. First come, first served. The error is a *NoKeysError, or the cause of
// ctx.
func (p *Pool) Take(ctx context.Context) (*Lease, error) {
	w := &waiter{make(chan *Lease, 1)}
	p.mu.Lock()
	p.waiting = append(p.waiting, w)
	p.serve()
	p.mu.Unlock()
	select {
	case lease, ok := <-w.lease:
		if !ok {
			return nil, p.noKeys()
		}
		return lease, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	p.waiting = slices.DeleteFunc(p.waiting, func(other *waiter) bool { return other == w })
	p.mu.Unlock()
	select {
	case lease, ok := <-w.lease: // it came at the same moment
		if ok {
			lease.Failed()
		}
	default:
	}
	return nil, context.Cause(ctx)
}

// serve gives keys to waiting callers, and sets the alarm for the next time that it can.
func (p *Pool) serve() {
	for len(p.waiting) > 0 {
		k, at, left := p.next()
		now := time.Now()
		switch {
		case !left:
			for _, w := range p.waiting {
				close(w.lease)
			}
			p.waiting = nil
			return
		case k == nil: // all are in use; the end of a request serves again
			return
		case at.After(now):
			p.alarm.Reset(at.Sub(now))
			return
		}
		p.begin(k, now)
		p.waiting[0].lease <- &Lease{p, k}
		p.waiting = p.waiting[1:]
	}
}

func (p *Pool) ring() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serve()
}

// next returns the key that can be used first, and when; nil if that is after the end of a request. left
// reports whether any key is still usable.
func (p *Pool) next() (k *state, at time.Time, left bool) {
	for _, one := range p.keys {
		if one.aside != "" {
			continue
		}
		left = true
		if p.limits.Concurrency > 0 && one.active >= p.limits.Concurrency {
			continue
		}
		when := one.next
		if one.rests.After(when) {
			when = one.rests
		}
		now := time.Now()
		if when.Before(now) {
			when = now
		}
		if k == nil || when.Before(at) || when.Equal(at) && one.used < k.used {
			k, at = one, when
		}
	}
	return k, at, left
}

// begin counts a request with k. Its pace is kept although timers are late: the next request
// is due an interval after this one was, unless that has long been over.
func (p *Pool) begin(k *state, now time.Time) {
	if now.Sub(k.next) > p.interval {
		k.next = now
	}
	k.next = k.next.Add(p.interval)
	k.active++
	var last uint64
	for _, one := range p.keys {
		last = max(last, one.used)
	}
	k.used = last + 1
}

// end gives the key back after update has noted what became of the request.
func (l *Lease) end(update func(k *state) string) string {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.key.active--
	said := update(l.key)
	l.pool.serve()
	return said
}

// Done returns a key that worked.
func (l *Lease) Done() {
	l.end(func(k *state) string { k.inARow = 0; return "" })
}

// Failed returns a key after a failure that was not the key's.
func (l *Lease) Failed() { l.end(func(*state) string { return "" }) }

// Throttled lets the key rest, for the time that the other side gave, or, with 0, longer each time. A key
// that has to rest for very long, or again and again, is set aside; note then reports it, and is ""
// otherwise.
func (l *Lease) Throttled(after time.Duration, reason string) (note string) {
	return l.end(func(k *state) string {
		k.inARow++
		if after > longest {
			return k.putAside(fmt.Sprintf("%s, for %v", reason, after.Round(time.Second)))
		}
		if k.inARow >= mostRests {
			return k.putAside(fmt.Sprintf("%s, %d times in a row", reason, k.inARow))
		}
		if after <= 0 {
			after = min(firstRest<<min(k.inARow-1, 10), longestOwn)
		}
		if until := time.Now().Add(after); until.After(k.rests) {
			k.rests = until
		}
		return ""
	})
}

// Refused puts the key aside. note reports it, once for each key.
func (l *Lease) Refused(reason string) (note string) {
	return l.end(func(k *state) string { return k.putAside(reason) })
}

func (k *state) putAside(reason string) string {
	if k.aside != "" {
		return ""
	}
	k.aside = reason
	return fmt.Sprintf("the API key of %s is set aside: %s", k.Name, reason)
}

func (p *Pool) noKeys() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &NoKeysError{}
	for _, k := range p.keys {
		if k.aside != "" {
			e.Aside = append(e.Aside, k.Name+": "+k.aside)
		}
	}
	if len(e.Aside) == 0 {
		return errors.New("the pool has no API key")
	}
	return e
}
