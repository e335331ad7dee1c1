//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Variables of scripts/with-buildbarn.
const (
	barnVariable      = "FEVALGRAPH_TEST_BUILDBARN"       // host:port of the engine
	barnStateVariable = "FEVALGRAPH_TEST_BUILDBARN_STATE" // of its scheduler
	barnDirVariable   = "FEVALGRAPH_TEST_BUILDBARN_DIR"   // the directory of its scripts/buildbarn
)

// barn is a separate Buildbarn for tests with two workers.
type barn struct {
	t                    *testing.T
	endpoint, state, dir string
	program              string // fevalgraph, which actions get: this program would be the tests there
}

func newBarn(t *testing.T) *barn {
	t.Helper()
	b := &barn{t: t, endpoint: os.Getenv(barnVariable), state: os.Getenv(barnStateVariable), dir: os.Getenv(barnDirVariable)}
	switch {
	case b.endpoint == "" && os.Getenv(realVariable) == "":
		t.Skip("needs a Buildbarn: make buildbarn")
	case b.endpoint == "":
		t.Fatalf("%s is not set", barnVariable)
	}
	b.program = filepath.Join(t.TempDir(), "fevalgraph")
	build := exec.Command("go", "build", "-o", b.program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program for workers: %v\n%s", err, out)
	}
	return b
}

// checkout copies testdata/barn and writes solutions, each of which scores its number.
func (b *barn) checkout(answers int) *checkout {
	b.t.Helper()
	c := copyCheckout(b.t, filepath.Join("testdata", "barn"), b.t.TempDir())
	c.env = []string{"FEVALGRAPH_VAR_endpoint=" + b.endpoint, "FEVALGRAPH_VAR_state=" + b.state, "FEVALGRAPH_VAR_program=" + b.program}
	if err := os.Mkdir(filepath.Join(c.dir, "answers"), 0o755); err != nil {
		b.t.Fatal(err)
	}
	for i := range answers {
		if err := os.WriteFile(filepath.Join(c.dir, "answers", fmt.Sprintf("s%d.txt", i)), fmt.Appendln(nil, i), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	return c
}

// signal sends a signal to a daemon, such as worker-a.
func (b *barn) signal(daemon string, s syscall.Signal) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "pids", daemon))
	if err != nil {
		b.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, s)
	}
	if err != nil {
		b.t.Fatalf("signal %v to %s: %v", s, daemon, err)
	}
}

// restart starts a daemon again, which it kills if it runs.
func (b *barn) restart(daemon string) {
	b.t.Helper()
	if out, err := exec.Command(filepath.Join("..", "..", "scripts", "buildbarn"), "restart", b.dir, daemon).CombinedOutput(); err != nil {
		b.t.Fatalf("restart %s: %v\n%s", daemon, err, out)
	}
}
