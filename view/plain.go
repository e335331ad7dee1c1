package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// silence is the time without a finished node after which the plain view reports the running ones. CI
// systems end jobs that are silent for ten minutes; users grow uneasy sooner.
const silence = 30 * time.Second

// plainView writes one line for each event, for logs and pipes.
type plainView struct {
	out   io.Writer
	now   func() time.Time
	lines lines

	mu     sync.Mutex // Emit and the heartbeat
	tally  tally
	causes repeats
	work   map[string]*event.NodeDone // finished work, by name, until the verdict arrives
	beat   time.Time                  // of the last heartbeat
	err    error
	closed bool

	stop    chan struct{}
	stopped sync.WaitGroup
}

func newPlainView(o Options) *plainView {
	return &plainView{
		out:   o.Err,
		now:   o.Now,
		work:  map[string]*event.NodeDone{},
		lines: lines{text.NewPalette(o.Color), o.Verbose, o.Width},
		stop:  make(chan struct{}),
	}
}

// startHeartbeat checks for silence once a second until Close.
func (v *plainView) startHeartbeat() {
	v.stopped.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-v.stop:
				return
			case <-ticker.C:
				v.heartbeat()
			}
		}
	})
}

// Emit implements event.Sink.
func (v *plainView) Emit(e event.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	now := v.now()
	ran := false
	if done, ok := e.(event.NodeDone); ok {
		ran = v.tally.stop(done.Addr)
	}
	v.tally.add(e, now)
	switch e := e.(type) {
	case event.NodeStart:
		if v.lines.verbose {
			v.write(v.lines.start(v.prefix(now), e))
		}
	case event.NodeRetry:
		if v.lines.verbose || !v.causes.isRepeatedRetry(e) {
			v.write(v.lines.retry(v.prefix(now), e))
		}
	case event.NodeNote:
		v.write(v.lines.note(v.prefix(now), e))
	case event.Verdict:
		_, name, _ := strings.Cut(e.Addr, ":")
		v.write(v.lines.verdict(v.prefix(now), e, v.work[name]))
		delete(v.work, name)
	case event.NodeDone:
		switch _, name, _ := strings.Cut(e.Addr, ":"); {
		case !v.lines.verbose && e.State == event.Done && judges(e.Kind):
			v.work[name] = &event.NodeDone{Seconds: e.Seconds, Cause: e.Cause}
		case e.State == event.Cached && e.Kind != "parse": // no verdict follows
			delete(v.work, name)
		}
		if v.lines.worthALine(e, ran) && (v.lines.verbose || !v.causes.isRepeated(e)) {
			v.write(v.lines.endLine(v.prefix(now), e))
		}
	}
}

// Close implements View.
func (v *plainView) Close() error {
	v.mu.Lock()
	if !v.closed {
		v.write(v.causes.summary(v.lines, v.prefix(v.now())))
		v.closed = true
		close(v.stop)
	}
	v.mu.Unlock()
	v.stopped.Wait()
	return v.err
}

// heartbeat lists the running nodes when none has finished for a while.
func (v *plainView) heartbeat() {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	quiet := now.Sub(v.tally.finished) >= silence && now.Sub(v.beat) >= silence
	if v.closed || v.tally.started.IsZero() || v.tally.done >= v.tally.total || !quiet {
		return
	}
	v.beat = now
	if len(v.tally.running) == 0 {
		v.write(v.lines.head(v.prefix(now), "waiting", "nothing runs") + "\n")
		return
	}
	longest := v.tally.running[0] // they are in order of start
	line := fmt.Sprintf("%s  for %s", v.lines.head(v.prefix(now), "running", longest.addr),
		text.Duration(now.Sub(longest.since).Seconds()))
	if others := len(v.tally.running) - 1; others > 0 {
		line += fmt.Sprintf(", and %s", text.Count(others, "other"))
	}
	v.write(line + "\n")
}

// prefix returns the time since the start and the number of finished nodes.
func (v *plainView) prefix(now time.Time) string {
	digits := len(fmt.Sprint(v.tally.total))
	return fmt.Sprintf("%6s  %*d/%d  ", text.Duration(now.Sub(v.tally.started).Seconds()), digits, v.tally.done, v.tally.total)
}

// write keeps the first error; a full disk under a log does not end a run.
func (v *plainView) write(s string) {
	if s == "" {
		return
	}
	if _, err := io.WriteString(v.out, s); err != nil && v.err == nil {
		v.err = err
	}
}
