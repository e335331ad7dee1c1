//go:build unix

package local

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// processLimit ends a process at a limit: its group gets SIGTERM and, after the grace, SIGKILL.
type processLimit struct {
	p     *process
	grace time.Duration

	mu        sync.Mutex
	remaining time.Duration // time left until the limit
	step      time.Duration // duration of timer
	last      time.Time     // time when timer was set
	timer     *time.Timer   // nil without a limit
	ended     bool          // the process has ended
	kill      *time.Timer   // fires at the end of the grace
	timedOut  bool          // the time limit ended it
	stopped   bool          // a signal had stopped it when the limit ended it
}

// The time of a limit is counted in steps. If a step takes much longer than it should, the machine or this
// process was suspended, and the command could not use that time.
const (
	limitStep  = time.Second
	limitPause = time.Second
)

// limit ends p when ctx is done or, if the timeout is above 0, after that time. release must be called
// before p is reaped; it reports whether the timeout ended p, and whether p was stopped then.
func limit(ctx context.Context, p *process, after, grace time.Duration) (release func() (timedOut, stopped bool)) {
	l := &processLimit{p: p, grace: grace, remaining: after}
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
		l.ended = true
		if l.timer != nil {
			l.timer.Stop()
		}
		if l.kill != nil {
			l.kill.Stop()
		}
		return l.timedOut, l.stopped
	}
}

// tick handles the end of a step.
func (l *processLimit) tick() {
	if l.count(time.Now()) {
		l.end(true)
	}
}

// count subtracts the step from the time left, unless it was interrupted, and reports whether no time is
// left.
func (l *processLimit) count(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if took := now.Sub(l.last); took < l.step+limitPause {
		l.remaining -= took
	}
	if l.remaining <= 0 || l.ended {
		return !l.ended
	}
	l.step, l.last = min(l.remaining, limitStep), now
	l.timer.Reset(l.step)
	return false
}

func (l *processLimit) end(timedOut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.kill != nil || l.p.hasEnded() { // it ended at the same moment: not a timeout
		return
	}
	l.timedOut, l.stopped = timedOut, timedOut && l.p.isStopped()
	l.p.signalGroup(unix.SIGTERM)
	l.p.signalGroup(unix.SIGCONT) // a stopped process does not handle SIGTERM
	l.kill = time.AfterFunc(l.grace, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.ended {
			l.p.signalGroup(unix.SIGKILL)
		}
	})
}
