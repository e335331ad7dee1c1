//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// daemonVariable names the directory where the daemon of TestDockerKilled keeps its images from one test to the next.
const daemonVariable = "FEVALGRAPH_TEST_SOAK_DAEMON"

// A run in containers survives a kill of fevalgraph, the init of a container, or the daemon, which the test starts for
// itself.
func TestDockerKilled(t *testing.T) {
	if os.Getenv(roundsVariable) == "" && os.Getenv(dockerVariable) == "" {
		t.Skip("needs a Docker daemon; make test and make soak have one")
	}
	t.Parallel() // to other tests; rounds share the daemon
	d := startDaemon(t)
	s := &soak{
		rounds: len(dockerTroubles), judged: 1, ends: []int{1, 3}, // all is judged, or not
		draw: func(random *rand.Rand, round, _ int) disturbance { return d.trouble(random, round) },
		checkout: func(t *testing.T, what disturbance) *checkout {
			c := copyCheckout(t, filepath.Join("testdata", "contained"), t.TempDir())
			c.env = []string{
				"DOCKER_HOST=" + d.host, "FEVALGRAPH_VAR_image=fevalgraph-test/python:latest", fmt.Sprint("FEVALGRAPH_VAR_attempts=", what.attempts),
			}
			return c
		},
		recover: d.start,
		check: func(t *testing.T, c *checkout) {
			d.holdsNothing(t)
			c.noLeftovers()
			if left, err := filepath.Glob(filepath.Join(c.dir, ".fevalgraph", "sessions", "*")); len(left) > 0 || err != nil {
				t.Errorf("sessions are listed still: %q, %v", left, err)
			}
		},
	}
	s.run(t)
}
