//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var dockerTroubles = []string{"kill fevalgraph", "kill an init", "stop the daemon", "kill the daemon"}

// trouble chooses one of dockerTroubles, and a variant of it.
func (d *testDaemon) trouble(r *rand.Rand, round int) disturbance {
	kind := dockerTroubles[round%len(dockerTroubles)]
	w := disturbance{name: kind, share: r.Float64(), pause: time.Duration(r.IntN(2000)) * time.Millisecond}
	also := r.IntN(3) == 0 // fevalgraph is killed, too, while the daemon is down
	bare := r.IntN(2) == 0 // the killed daemon is started at once, next to its leftovers
	w.attempts = 1 + 2*r.IntN(2)
	if strings.HasSuffix(kind, "daemon") {
		w.name += fmt.Sprintf(" for %v", w.pause)
		if also {
			w.name += " and fevalgraph"
		}
		if bare && kind == "kill the daemon" {
			w.name += " alone"
		}
	}
	if r.IntN(8) == 0 {
		w.name += " with nothing prepared"
		w.prepare = d.forgetSnapshots
	}
	w.inflict = func(t *testing.T, run *underway) bool {
		switch kind {
		case "kill fevalgraph":
			return killRun(t, run)
		case "kill an init":
			return d.killInit(t, run)
		case "stop the daemon":
			d.script(t, "stop")
		case "kill the daemon":
			d.kill(t)
		}
		if also {
			killRun(t, run)
		}
		time.Sleep(w.pause)
		if bare && kind == "kill the daemon" {
			d.startBare(t)
		}
		d.start(t)
		return true
	}
	return w
}
