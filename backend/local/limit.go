//go:build unix

package local

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// limited ends a process before it has ended by itself: its group gets SIGTERM
// and, after the grace, SIGKILL.
type limited struct {
	p     *process
	grace time.Duration

	mu       sync.Mutex
	left     time.Duration // until the limit
	step     time.Duration // that timer takes
	last     time.Time     // when timer was set
	timer    *time.Timer   // nil without a limit
	over     bool          // the process has ended
	kill     *time.Timer   // the grace after the request to end
	timedOut bool          // by the limit of time
	stopped  bool          // a signal had stopped it when the limit ended it
}

// The time of a limit passes in steps. A step that takes much longer than it should was interrupted: the
// machine, or this process, was suspended, and the command could not use that time.
const (
	limitStep  = time.Second
	limitPause = time.Second
)

// limit ends p when ctx is done or, if that is more than 0, after a time.
// release must be called before p is reaped, and says whether the time ended it,
// and whether it was stopped then.
func limit(ctx context.Context, p *process, after, grace time.Duration) (release func() (timedOut, stopped bool)) {
	l := &limited{p: p, grace: grace, left: after}
	cancel := context.AfterFunc(ctx, func() { l.end(false) })
	if after > 0 {
		l.step, l.last = min(after, limitStep), time.Now()
		l.mu.Lock()
		l.timer = time.AfterFunc(l.step, l.tick)
		l.mu.Unlock()
	}
	return func() (timedOut, stopped bool) {
		cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
		if l.timer != nil {
			l.timer.Stop()
		}
		if l.kill != nil {
			l.kill.Stop()
		}
		return l.timedOut, l.stopped
	}
}

// tick counts a step.
func (l *limited) tick() {
	if l.count(time.Now()) {
		l.end(true)
	}
}

// count takes a step off what is left, unless it was interrupted, and reports
// whether nothing is left.
func (l *limited) count(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if took := now.Sub(l.last); took < l.step+limitPause {
		l.left -= took
	}
	if l.left <= 0 || l.over {
		return !l.over
	}
	l.step, l.last = min(l.left, limitStep), now
	l.timer.Reset(l.step)
	return false
}

func (l *limited) end(timedOut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.kill != nil || l.p.hasEnded() { // both at once: the program was in time
		return
	}
	l.timedOut, l.stopped = timedOut, timedOut && l.p.isStopped()
	l.p.signalGroup(unix.SIGTERM)
	l.p.signalGroup(unix.SIGCONT) // a stopped process takes no SIGTERM
	l.kill = time.AfterFunc(l.grace, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.over {
			l.p.signalGroup(unix.SIGKILL)
		}
	})
}
