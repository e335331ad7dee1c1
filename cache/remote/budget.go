package remote

import (
	"sync"
	"time"
)

// budget limits how long a run waits for a cache beyond the time that the cache saves. Time during which
// calls wait for answers adds to the debt, once for all concurrent calls; answers reduce it. The debt is
// never negative, so that a server that stops in the middle costs no more than a server that never
// answers.
type budget struct {
	limit time.Duration
	over  func() // called once, without the lock

	mu      sync.Mutex
	waiting int
	since   time.Time // last update of the debt, while calls wait
	debt    time.Duration
	timer   *time.Timer
	ended   bool
}

// wait begins a wait, which the caller must end with leave.
func (b *budget) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count()
	if b.waiting++; b.waiting == 1 && !b.ended {
		b.since = time.Now()
		b.timer = time.AfterFunc(b.limit-b.debt, b.check)
	}
}

func (b *budget) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count()
	if b.waiting--; b.waiting == 0 && b.timer != nil {
		b.timer.Stop()
	}
}

// pay subtracts the value of an answer from the debt.
func (b *budget) pay(worth time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count()
	b.debt = max(0, b.debt-worth)
}

func (b *budget) count() {
	if b.waiting > 0 {
		now := time.Now()
		b.debt += now.Sub(b.since)
		b.since = now
	}
}

// check ends the budget if it is used up, and otherwise schedules the next check.
func (b *budget) check() {
	b.mu.Lock()
	b.count()
	left := b.limit - b.debt
	if b.waiting == 0 || b.ended || left > 0 {
		if b.waiting > 0 && !b.ended {
			b.timer.Reset(max(left, time.Millisecond))
		}
		b.mu.Unlock()
		return
	}
	b.ended = true
	b.mu.Unlock()
	b.over()
}

// The value of answers compared with the work that they save.
const (
	answerWorth = time.Millisecond
	// byteWorth is the time that each byte saves: 1 MiB per second is not slow.
	byteWorth = time.Second >> 20
)

func worthOf(bytes int64) time.Duration {
	return answerWorth + time.Duration(bytes)*byteWorth
}
