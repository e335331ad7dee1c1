//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// A run on an engine judges everything in the end, whichever daemon is killed or stopped at any moment. make buildbarn
// has a few rounds; make soak-buildbarn has more.
func TestBuildbarnKilled(t *testing.T) {
	b := newBarn(t)
	s := &soak{
		rounds: 3, ends: []int{0},
		draw: func(random *rand.Rand, _, _ int) disturbance { return b.trouble(random) },
		checkout: func(t *testing.T, _ disturbance) *checkout {
			c := b.checkout(20)
			c.t = t
			c.env = append(c.env, "FEVALGRAPH_VAR_nap=0.2")
			return c
		},
		check: func(_ *testing.T, c *checkout) { c.noLeftovers() },
	}
	s.run(t)
}

// trouble kills fevalgraph, or kills or stops a daemon for a while.
func (b *barn) trouble(random *rand.Rand) disturbance {
	daemons := []string{"worker-a", "worker-b", "runner-a", "runner-b", "scheduler", "storage", "fevalgraph"}
	daemon, stops := daemons[random.IntN(len(daemons))], random.IntN(2) == 0
	x := disturbance{name: "kill fevalgraph", share: random.Float64(), pause: time.Duration(random.Int64N(int64(5 * time.Second))), inflict: killRun}
	switch {
	case daemon == "fevalgraph":
	case stops:
		x.name = fmt.Sprintf("stop %s for %v", daemon, x.pause)
		x.inflict = func(t *testing.T, _ *underway) bool {
			b.signal(daemon, syscall.SIGSTOP)
			time.Sleep(x.pause)
			b.signal(daemon, syscall.SIGCONT)
			return true
		}
	default:
		x.name = fmt.Sprintf("kill %s for %v", daemon, x.pause)
		x.inflict = func(t *testing.T, _ *underway) bool {
			b.signal(daemon, syscall.SIGKILL)
			time.Sleep(x.pause)
			b.restart(daemon)
			return true
		}
	}
	return x
}
