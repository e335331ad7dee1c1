//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// trouble is what happens to a run.
type trouble struct {
	kind       string
	share      float64       // of a clean run's time, after which it happens
	pause      time.Duration // before the daemon is started again
	also       bool          // fevalgraph is killed, too, while there is no daemon
	bare       bool          // the killed daemon is started at once, beside what it left
	attempts   int           // that the run has for broken work
	unprepared bool          // what pytest needs has to be fetched first
}

var troubles = []string{"kill fevalgraph", "kill an init", "stop the daemon", "kill the daemon"}

func newTrouble(r *rand.Rand, round int) trouble {
	return trouble{
		kind: troubles[round%len(troubles)], share: r.Float64(), pause: time.Duration(r.IntN(2000)) * time.Millisecond,
		also: r.IntN(3) == 0, bare: r.IntN(2) == 0, attempts: 1 + 2*r.IntN(2), unprepared: r.IntN(8) == 0,
	}
}

func (w trouble) String() string {
	text := w.kind
	if strings.HasSuffix(w.kind, "daemon") {
		text += fmt.Sprintf(" for %v", w.pause)
		if w.also {
			text += " and fevalgraph"
		}
		if w.bare && w.kind == "kill the daemon" {
			text += " alone"
		}
	}
	if w.unprepared {
		text += " with nothing prepared"
	}
	return text
}

// inflict reports whether it found something to disturb.
func (w trouble) inflict(t *testing.T, d *testDaemon, run *disturbed) bool {
	switch w.kind {
	case "kill fevalgraph":
		return run.kill()
	case "kill an init":
		return d.killInit(t, run)
	case "stop the daemon":
		d.script(t, "stop")
	case "kill the daemon":
		d.kill(t)
	}
	if w.also {
		run.kill()
	}
	time.Sleep(w.pause)
	if w.bare && w.kind == "kill the daemon" {
		d.startBare(t)
	}
	d.start(t)
	return true
}
