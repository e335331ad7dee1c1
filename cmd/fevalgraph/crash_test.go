//go:build unix

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// A run that is killed at any moment costs what was running and no more. make soak has more
// moments.
func TestKilled(t *testing.T) {
	if os.Getenv(roundsVariable) == "" {
		longtest.Skip(t)
	}
	t.Parallel()
	s := &soak{
		rounds: 8, parallel: true, ends: []int{0},
		draw: func(random *rand.Rand, round, rounds int) disturbance {
			// One in every part of the time, so that they are spread.
			return disturbance{name: "kill fevalgraph", share: (float64(round) + random.Float64()) / float64(rounds), inflict: killRun}
		},
		checkout: func(t *testing.T, _ disturbance) *checkout { return newCheckout(t, t.TempDir()) },
		check:    func(_ *testing.T, c *checkout) { c.noLeftovers() },
	}
	s.run(t)
}

// The next process ends what runs when the program is killed.
func TestKilledLeavesOrphans(t *testing.T) {
	t.Parallel()
	c := newCheckout(t, t.TempDir())
	c.append("tests/test_two.py", "# fake-session: sleep 600\n")
	cmd := c.command("run")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.awaitJudged(cmd, repeats*2, "two")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	c.awaitForked()
	if clean := c.run("clean"); !strings.Contains(output(clean), "ended 2 leftover sessions") &&
		!strings.Contains(output(clean), "ended 1 leftover sessions") {
		t.Errorf("clean printed %s", output(clean))
	}
	c.noLeftovers()
}

// A signal ends a run soon, keeps what is finished, and leaves nothing behind.
func TestInterrupted(t *testing.T) {
	const bound = 3 * time.Minute // two seconds of grace for a test that will not end, the rest for a busy machine
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t, t.TempDir())
			c.append("tests/test_two.py", "# fake-session: sleep 600\n")
			cmd := c.command("run")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			c.awaitJudged(cmd, repeats*2, "two")
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Fatalf("ended with %v, want exit code 130\n%s", err, output(cmd))
			}
			if took := time.Since(began); took > bound {
				t.Errorf("ending took %v", took)
			}
			c.noLeftovers()
			r := c.lastRun()
			if r.end.Exit != 130 || r.end.Interrupted == 0 {
				t.Errorf("the record contains %+v", r.end)
			}
			// Finished work is kept.
			c.run("run", "kind=aggregate,checkpoint=one")
			if again := c.lastRun(); !onlyFromInterrupted(again.executed, r.states) {
				t.Errorf("ran again: %v", again.executed)
			}
		})
	}
}

// onlyFromInterrupted reports whether everything that was executed had not
// been done before.
func onlyFromInterrupted(executed []string, before map[string]event.State) bool {
	for _, addr := range executed {
		if before[addr] == event.Done {
			return false
		}
	}
	return true
}

// awaitJudged waits until the tests of a checkpoint, or a total number of tests, have begun.
func (c *checkout) awaitJudged(cmd *exec.Cmd, all int, checkpoint string) {
	c.t.Helper()
	begun := false
	defer func() {
		if !begun {
			cmd.Process.Kill()
			cmd.Wait()
			c.t.Logf("the tests never began:\n%s", output(cmd))
		}
	}()
	await.Until(c.t, "tests of "+checkpoint+" have begun", func() bool {
		content, _ := os.ReadFile(filepath.Join(c.place, "home", ".cache", "uv", "uvx.log"))
		begun = strings.Contains(string(content), checkpoint+" ") || strings.Count(string(content), "\n") >= all
		return begun
	})
}

// Two runs at once on one store, in two checkouts or in one: both end right,
// and between them every pytest node runs once.
func TestTwoAtOnce(t *testing.T) {
	rounds := longtest.Size(1, 3)
	for _, shared := range []bool{false, true} {
		for round := range rounds {
			t.Run(fmt.Sprintf("one_checkout=%t/%d", shared, round), func(t *testing.T) {
				t.Parallel()
				place := t.TempDir()
				a := newCheckout(t, place)
				b := a
				if !shared {
					b = newCheckout(t, place)
				}
				commands := []*exec.Cmd{a.command("run"), b.command("run")}
				for _, cmd := range commands {
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
				}
				for _, cmd := range commands {
					if err := cmd.Wait(); err != nil {
						t.Errorf("%v\n%s", err, output(cmd))
					}
				}
				if got := a.judged(); got != cells {
					t.Errorf("pytest ran %d times, want %d", got, cells)
				}
				if diff := cmp.Diff(a.results(), b.results()); diff != "" {
					t.Errorf("the results differ:\n%s", diff)
				}
				for _, c := range []*checkout{a, b} {
					c.run("run")
					if again := c.lastRun(); again.end.Executed > 0 {
						t.Errorf("another run executed %v", again.executed)
					}
				}
				a.noLeftovers()
			})
		}
	}
}
