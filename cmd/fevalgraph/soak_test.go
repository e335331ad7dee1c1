//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/event"
)

// Variables of soaks.
const (
	roundsVariable = "FEVALGRAPH_TEST_SOAK"      // how many rounds
	seedVariable   = "FEVALGRAPH_TEST_SOAK_SEED" // of an earlier test, to repeat its rounds
)

// soak kills or stops processes during runs, at random moments. The fields describe
// where its cells run and what can happen there; rounds, and what must hold after each, are the
// same for all soaks: the next run leaves nothing behind, repeats nothing that was recorded,
// and has the results of an undisturbed run.
//
// The printed seed repeats what happens in rounds, after the same share of their time, and
//
//	go test -run TestDockerKilled/17
//
// repeats only round 17.
type soak struct {
	rounds   int   // unless roundsVariable has a number
	judged   int   // exit code of a run after which everything is judged
	ends     []int // exit codes of a disturbed run that was not killed
	parallel bool  // rounds have nothing in common

	// draw chooses what happens in a round.
	draw func(random *rand.Rand, round, rounds int) disturbance
	// checkout returns the project of a round. An undisturbed run gets the zero disturbance.
	checkout func(t *testing.T, what disturbance) *checkout
	// recover makes the next run possible; nil means no effect.
	recover func(t *testing.T)
	// check tests invariants after an undisturbed run, such as that there are no leftovers.
	check func(t *testing.T, c *checkout)

	want   string                 // results of an undisturbed run
	states map[string]event.State // of its nodes
	whole  time.Duration          // that it takes
}

// disturbance describes an event during one run.
type disturbance struct {
	name     string
	share    float64       // of an undisturbed run's time, after which it happens
	pause    time.Duration // until the killed or stopped part is available again
	attempts int           // that the run has for broken work
	prepare  func(t *testing.T)
	// inflict reports whether it found something to disturb.
	inflict func(t *testing.T, run *underway) bool
}

// roundsAndSeed returns the number of rounds and the seed from the environment; their defaults are rounds and a new
// seed.
func roundsAndSeed(t *testing.T, rounds int) (int, uint64) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if value := os.Getenv(roundsVariable); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			t.Fatalf("%s=%s: must be a number of rounds", roundsVariable, value)
		}
		rounds = n
	}
	if value := os.Getenv(seedVariable); value != "" {
		var err error
		if seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%d rounds with %s=%d", rounds, seedVariable, seed)
	return rounds, seed
}

func (s *soak) run(t *testing.T) {
	rounds, seed := roundsAndSeed(t, s.rounds)
	s.measure(t)
	hits := make([]int, rounds) // 1 is a hit, -1 a miss
	t.Cleanup(func() {
		if !slices.Contains(hits, 0) && !slices.Contains(hits, 1) {
			t.Error("every run ended before it was disturbed")
		}
	})
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if s.parallel {
				t.Parallel()
			}
			hits[i] = -1
			if s.round(t, s.draw(rand.New(rand.NewPCG(seed, uint64(i))), i, rounds)) {
				hits[i] = 1
			}
		})
	}
}

// measure makes undisturbed runs: two, because the first also prepares what later runs share.
func (s *soak) measure(t *testing.T) {
	t.Helper()
	for range 2 {
		c := s.checkout(t, disturbance{attempts: 1})
		began := time.Now()
		s.judge(t, c)
		s.whole = time.Since(began)
		s.want, s.states = c.results(), c.states()
	}
	t.Logf("an undisturbed run takes %v", s.whole)
}

// judge runs until everything is judged.
func (s *soak) judge(t *testing.T, c *checkout) {
	t.Helper()
	cmd := c.command("run")
	_ = cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != s.judged {
		t.Fatalf("fevalgraph run: %v, want exit code %d\n%s", cmd.ProcessState, s.judged, output(cmd))
	}
	if s.check(t, c); t.Failed() {
		t.Logf("after a failed check; the run printed:\n%s", output(cmd))
	}
}

// round reports whether the run was still there to be disturbed.
func (s *soak) round(t *testing.T, what disturbance) (hit bool) {
	if what.prepare != nil {
		what.prepare(t)
	}
	at := time.Duration(what.share * float64(s.whole))
	c := s.checkout(t, what)
	run := c.start("run")
	select {
	case <-run.done:
	case <-time.After(at):
		hit = what.inflict(t, run)
	}
	run.ends(10*time.Minute, s.ends...)
	if s.recover != nil {
		s.recover(t)
	}
	c.awaitForked()
	before := c.states()
	t.Logf("%s after %v of about %v (hit: %t); the run ended with %v, %d nodes were recorded", what.name, at, s.whole, hit, run.cmd.ProcessState, len(before))
	for addr, state := range before {
		if (state == event.Failed || state == event.Timeout) && s.states[addr] != state {
			t.Errorf("%s is %s, and %s in an undisturbed run", addr, state, s.states[addr])
		}
	}
	s.judge(t, c)
	for _, addr := range c.lastRun().executed {
		if isStored(before[addr]) {
			t.Errorf("%s was %s and ran again", addr, before[addr])
		}
	}
	if diff := cmp.Diff(s.want, c.results()); diff != "" {
		t.Errorf("the results differ from an undisturbed run's (-want +got):\n%s", diff)
	}
	s.judge(t, c)
	if again := c.lastRun(); again.end.Executed > 0 {
		t.Errorf("a third run executed %v", again.executed)
	}
	if t.Failed() {
		t.Logf("the disturbed run printed:\n%s", output(run.cmd))
	}
	return hit
}

// isStored reports whether the answer of a node that ended in a state was kept.
func isStored(state event.State) bool {
	return state == event.Done || state == event.Failed || state == event.Timeout
}

// killRun is a disturbance's inflict that kills fevalgraph.
func killRun(_ *testing.T, run *underway) bool { return run.cmd.Process.Kill() == nil }

// underway is a run that something happens to. It ends with the test.
type underway struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{} // closed at its end
	err  error
}

func (c *checkout) start(args ...string) *underway {
	c.t.Helper()
	return startRun(c.t, c.command(args...))
}

func startRun(t *testing.T, cmd *exec.Cmd) *underway {
	t.Helper()
	r := &underway{t: t, cmd: cmd, done: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		r.err = cmd.Wait()
	}()
	t.Cleanup(r.kill)
	return r
}

func (r *underway) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (r *underway) kill() {
	_ = r.cmd.Process.Kill() // it can have ended
	<-r.done
}

// ends waits for the run to end, with a time limit. Its exit code must be one of codes, if any, or -1, that of a run
// killed by the test.
func (r *underway) ends(within time.Duration, codes ...int) error {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(within):
		r.kill()
		r.t.Errorf("the run did not end within %v\n%s", within, output(r.cmd))
	}
	if code := r.cmd.ProcessState.ExitCode(); len(codes) > 0 && code != -1 && !slices.Contains(codes, code) {
		r.t.Errorf("the run ended with %v, want one of %v\n%s", r.cmd.ProcessState, codes, output(r.cmd))
	}
	return r.err
}
