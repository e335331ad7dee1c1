//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// Whatever is killed or stopped under a run on an engine, at any moment: everything is judged
// in the end, no verdict is another, and no cell failed for what a machine did. A few rounds
// are part of make buildbarn; make soak-buildbarn has more.
//
// The moments are random; the seed that it prints has them again.
func TestBuildbarnKilled(t *testing.T) {
	b := newBarn(t)
	rounds := 3
	if asked := os.Getenv(roundsVariable); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 {
			t.Fatalf("%s=%s is no number of rounds", roundsVariable, asked)
		}
		rounds = n
	}
	seed := uint64(time.Now().UnixNano())
	if asked := os.Getenv(seedVariable); asked != "" {
		var err error
		if seed, err = strconv.ParseUint(asked, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%d rounds with %s=%d", rounds, seedVariable, seed)
	s := &barnSoak{barn: b, answers: 20}
	s.want, s.whole = s.clean()
	t.Logf("a clean run takes %v", s.whole)
	hit := 0
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s.t = t
			if s.round(rand.New(rand.NewPCG(seed, uint64(i)))) {
				hit++
			}
		})
	}
	if hit == 0 {
		t.Error("every run ended before it was disturbed")
	}
}

// barnSoak is what all rounds share. t is that of the round.
type barnSoak struct {
	*barn
	answers int
	want    string        // a clean run's results
	whole   time.Duration // that it takes
}

// clean runs without any trouble; twice, because the first one also sends the program.
func (s *barnSoak) clean() (results string, took time.Duration) {
	for range 2 {
		c := s.checkout(s.answers)
		c.env = append(c.env, "FEVALGRAPH_VAR_nap=0.2")
		began := time.Now()
		c.run("run")
		results, took = c.results(), time.Since(began)
	}
	return results, took
}

// barnTrouble is what happens to a run: a daemon is killed, or stopped, for a while; or
// fevalgraph is killed.
type barnTrouble struct {
	daemon string
	stops  bool
	at     time.Duration
	pause  time.Duration
}

func (s *barnSoak) trouble(random *rand.Rand) barnTrouble {
	daemons := []string{"worker-a", "worker-b", "runner-a", "runner-b", "scheduler", "storage", "fevalgraph"}
	x := barnTrouble{daemon: daemons[random.IntN(len(daemons))], stops: random.IntN(2) == 0,
		at: time.Duration(random.Int64N(int64(s.whole))), pause: time.Duration(random.Int64N(int64(5 * time.Second)))}
	x.stops = x.stops && x.daemon != "fevalgraph"
	return x
}

func (x barnTrouble) String() string {
	does := "kill"
	if x.stops {
		does = "stop"
	}
	return fmt.Sprintf("%s %s at %v for %v", does, x.daemon, x.at.Round(time.Millisecond), x.pause.Round(time.Millisecond))
}

// round reports whether the run went on when the trouble came.
func (s *barnSoak) round(random *rand.Rand) (hit bool) {
	x := s.trouble(random)
	c := s.checkout(s.answers)
	c.t = s.t
	c.env = append(c.env, "FEVALGRAPH_VAR_nap=0.2")
	cmd := c.command("run")
	began := time.Now()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	select {
	case <-done:
	case <-time.After(x.at):
		hit = true
		s.inflict(x, func() { _ = cmd.Process.Kill() })
	}
	<-done
	code := cmd.ProcessState.ExitCode()
	s.t.Logf("%s (hit: %t); ended with %d after %.1fs", x, hit, code, time.Since(began).Seconds())
	if want := map[bool]int{true: -1}[hit && x.daemon == "fevalgraph"]; code != want {
		s.t.Errorf("the run ended with %d, want %d:\n%s", code, want, output(cmd))
	}
	c.awaitForked()
	for addr, state := range c.states() {
		if state == event.Failed || state == event.Timeout {
			s.t.Errorf("%s is %s", addr, state)
		}
	}
	c.run("run")
	if got := c.results(); got != s.want {
		s.t.Errorf("the results differ from a clean run's:\n%s\nwant\n%s", got, s.want)
	}
	c.run("run")
	if again := c.lastRun(); again.end.Executed > 0 {
		s.t.Errorf("a third run executed %v", again.executed)
	}
	return hit
}

func (s *barnSoak) inflict(x barnTrouble, kill func()) {
	switch {
	case x.daemon == "fevalgraph":
		kill()
	case x.stops:
		s.signal(x.daemon, syscall.SIGSTOP)
		time.Sleep(x.pause)
		s.signal(x.daemon, syscall.SIGCONT)
	default:
		s.signal(x.daemon, syscall.SIGKILL)
		time.Sleep(x.pause)
		s.restart(x.daemon)
	}
}
