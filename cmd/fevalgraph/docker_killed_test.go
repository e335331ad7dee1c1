//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/event"
)

// What TestDockerKilled reads, beside dockerVariable.
const (
	roundsVariable = "FEVALGRAPH_TEST_SOAK"        // how many rounds
	seedVariable   = "FEVALGRAPH_TEST_SOAK_SEED"   // of an earlier test, to have its rounds again
	daemonVariable = "FEVALGRAPH_TEST_SOAK_DAEMON" // where the daemon keeps its images from one test to the next
)

// A run in containers survives whatever is killed under it: fevalgraph, the
// init of a container, or the daemon, at any moment. The next run leaves
// nothing on the daemon, repeats nothing that was finished, and gives the
// verdicts of an undisturbed run.
//
// The moments are random. Given the seed that it prints, rounds meet the same
// trouble after the same share of their time, and
//
//	go test -run TestDockerKilled/17
//
// has round 17 alone. A daemon of the test's own is started for it.
func TestDockerKilled(t *testing.T) {
	rounds := len(troubles)
	switch asked := os.Getenv(roundsVariable); {
	case asked != "":
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 {
			t.Fatalf("%s=%s is no number of rounds", roundsVariable, asked)
		}
		rounds = n
	case os.Getenv(dockerVariable) == "":
		t.Skip("needs a Docker daemon; make test and make soak have one")
	}
	t.Parallel() // to other tests; rounds share the daemon
	seed := uint64(time.Now().UnixNano())
	if asked := os.Getenv(seedVariable); asked != "" {
		var err error
		if seed, err = strconv.ParseUint(asked, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%d rounds with %s=%d", rounds, seedVariable, seed)
	s := &soak{daemon: startDaemon(t)}
	s.measure(t)
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s.round(t, newTrouble(rand.New(rand.NewPCG(seed, uint64(i))), i))
		})
	}
	t.Logf("hit what they aimed at: %d of %d rounds", s.hit, s.rounds)
	if s.hit == 0 && s.rounds == rounds { // not when one of them runs alone
		t.Error("every run ended before it was disturbed")
	}
}

// soak is what all rounds share.
type soak struct {
	daemon      *testDaemon
	want        string        // a clean run's results
	whole       time.Duration // that it takes
	hit, rounds int
}

// measure runs without any trouble; twice, because the first one also prepares
// what later ones share.
func (s *soak) measure(t *testing.T) {
	t.Helper()
	for range 2 {
		c := s.checkout(t, 1)
		began := time.Now()
		c.judge()
		s.whole = time.Since(began)
		s.want = c.results()
		s.daemon.holdsNothing(t)
	}
	t.Logf("a clean run takes %v", s.whole)
}

func (s *soak) checkout(t *testing.T, attempts int) *contained {
	c := newCheckoutOf(t, filepath.Join("testdata", "contained"), t.TempDir())
	c.env = []string{
		"DOCKER_HOST=" + s.daemon.host, "FEVALGRAPH_VAR_image=fevalgraph-test/python:latest", fmt.Sprint("FEVALGRAPH_VAR_attempts=", attempts),
	}
	return &contained{c}
}

func (s *soak) round(t *testing.T, what trouble) {
	s.rounds++
	at := time.Duration(what.share * float64(s.whole))
	t.Logf("%s at %v of about %v; %d attempts", what, at, s.whole, what.attempts)
	if what.unprepared {
		s.daemon.forgetSnapshots(t)
	}
	c := s.checkout(t, what.attempts)
	run := c.start()
	select {
	case <-run.done:
	case <-time.After(at):
		if what.inflict(t, s.daemon, run) {
			s.hit++
		}
	}
	run.await()
	s.daemon.start(t)

	before := c.states()
	t.Logf("it ended with %d; %d nodes were recorded", run.cmd.ProcessState.ExitCode(), len(before))
	c.judge()
	after := c.lastRun()
	for _, addr := range after.executed {
		if stored(addr, before) {
			t.Errorf("%s was %s and ran again", addr, before[addr])
		}
	}
	if diff := cmp.Diff(s.want, c.results()); diff != "" {
		t.Errorf("the results differ from a clean run's (-want +got):\n%s", diff)
	}
	s.daemon.holdsNothing(t)
	c.noLeftovers()
	if left, err := filepath.Glob(filepath.Join(c.dir, ".fevalgraph", "sessions", "*")); len(left) > 0 || err != nil {
		t.Errorf("sessions are listed still: %q, %v", left, err)
	}
	c.judge()
	if again := c.lastRun(); again.end.Executed > 0 {
		t.Errorf("a third run executed %v", again.executed)
	}
	if t.Failed() {
		t.Logf("the disturbed run said:\n%s", output(run.cmd))
	}
}

// stored reports whether the answer of a node was kept. An aggregate of a cell
// or a suite is made with holes where something broke, and then not kept.
func stored(addr string, states map[string]event.State) bool {
	switch states[addr] {
	case event.Done, event.Failed, event.Timeout:
	default:
		return false
	}
	name, isAggregate := strings.CutPrefix(addr, "aggregate:")
	if !isAggregate {
		return true
	}
	parts := "aggregate:*/*/*" // of the suite
	if problem, cell, isCell := strings.Cut(name, "/"); isCell {
		if strings.Contains(cell, "/") { // of a checkpoint
			return true
		}
		parts = "aggregate:" + problem + "/*/" + cell
	}
	for other, state := range states {
		if match, _ := path.Match(parts, other); match && state != event.Done && state != event.Cached {
			return false
		}
	}
	return true
}

// contained is a checkout whose cells are in containers and not all green.
type contained struct{ *checkout }

// judge runs to an end at which everything is judged.
func (c *contained) judge() {
	c.t.Helper()
	const redOnes = 1
	cmd := c.command("run")
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != redOnes {
		c.t.Fatalf("fevalgraph run: %v\n%s", err, output(cmd))
	}
}

// disturbed is a run that something happens to.
type disturbed struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{} // closed at its end
}

func (c *contained) start() *disturbed {
	c.t.Helper()
	r := &disturbed{t: c.t, cmd: c.command("run"), done: make(chan struct{})}
	if err := r.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait()
	}()
	return r
}

// kill reports whether the run was there to be killed.
func (r *disturbed) kill() bool { return r.cmd.Process.Kill() == nil }

// await waits for the end, which must be one that a run may have.
func (r *disturbed) await() {
	r.t.Helper()
	const bound = 10 * time.Minute // far below that for a daemon that hangs
	select {
	case <-r.done:
	case <-time.After(bound):
		r.kill()
		<-r.done
		r.t.Fatalf("the run did not end within %v\n%s", bound, output(r.cmd))
	}
	status := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL: // by the test
	case status.Exited() && (status.ExitStatus() == 1 || status.ExitStatus() == 3): // all is judged, or not
	default:
		r.t.Errorf("the run ended with %v\n%s", r.cmd.ProcessState, output(r.cmd))
	}
}
