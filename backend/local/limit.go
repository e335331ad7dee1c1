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
	over     bool        // the process has ended
	kill     *time.Timer // the grace, once the end has been asked for
	timedOut bool        // by the limit of time
}

// limit ends p when ctx is done or, if that is more than 0, after a time.
// release must be called before p is reaped, and says whether the time ended it.
func limit(ctx context.Context, p *process, after, grace time.Duration) (release func() (timedOut bool)) {
	l := &limited{p: p, grace: grace}
	cancel := context.AfterFunc(ctx, func() { l.end(false) })
	var timer *time.Timer
	if after > 0 {
		timer = time.AfterFunc(after, func() { l.end(true) })
	}
	return func() bool {
		cancel()
		if timer != nil {
			timer.Stop()
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
		if l.kill != nil {
			l.kill.Stop()
		}
		return l.timedOut
	}
}

func (l *limited) end(timedOut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.kill != nil || l.p.hasEnded() { // both at once: the program was in time
		return
	}
	l.timedOut = timedOut
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
