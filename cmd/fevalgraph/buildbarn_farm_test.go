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

// What scripts/with-buildbarn exports.
const (
	barnVariable      = "FEVALGRAPH_TEST_BUILDBARN"       // host:port of the engine
	barnStateVariable = "FEVALGRAPH_TEST_BUILDBARN_STATE" // of its scheduler
	barnDirVariable   = "FEVALGRAPH_TEST_BUILDBARN_DIR"   // the directory of its scripts/buildbarn
)

// farm is a Buildbarn of the tests' own with two workers.
type farm struct {
	t                    *testing.T
	endpoint, state, dir string
	program              string // fevalgraph, which actions get: this program would be the tests there
}

func newFarm(t *testing.T) *farm {
	t.Helper()
	f := &farm{t: t, endpoint: os.Getenv(barnVariable), state: os.Getenv(barnStateVariable), dir: os.Getenv(barnDirVariable)}
	switch {
	case f.endpoint == "" && os.Getenv(realVariable) == "":
		t.Skip("needs a Buildbarn: make buildbarn")
	case f.endpoint == "":
		t.Fatalf("%s is not set", barnVariable)
	}
	f.program = filepath.Join(t.TempDir(), "fevalgraph")
	build := exec.Command("go", "build", "-o", f.program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program for workers: %v\n%s", err, out)
	}
	return f
}

// checkout copies testdata/farm and writes answers, each of which earns its number.
func (f *farm) checkout(answers int) *checkout {
	f.t.Helper()
	c := newCheckoutOf(f.t, filepath.Join("testdata", "farm"), f.t.TempDir())
	c.env = []string{"FEVALGRAPH_VAR_endpoint=" + f.endpoint, "FEVALGRAPH_VAR_state=" + f.state, "FEVALGRAPH_VAR_program=" + f.program}
	if err := os.Mkdir(filepath.Join(c.dir, "answers"), 0o755); err != nil {
		f.t.Fatal(err)
	}
	for i := range answers {
		if err := os.WriteFile(filepath.Join(c.dir, "answers", fmt.Sprintf("s%d.txt", i)), fmt.Appendln(nil, i), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	return c
}

// signal sends a signal to a daemon, such as worker-a.
func (f *farm) signal(daemon string, s syscall.Signal) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "pids", daemon))
	if err != nil {
		f.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, s)
	}
	if err != nil {
		f.t.Fatalf("signal %v to %s: %v", s, daemon, err)
	}
}

// restart starts a daemon again, which it kills if it runs.
func (f *farm) restart(daemon string) {
	f.t.Helper()
	if out, err := exec.Command(filepath.Join("..", "..", "scripts", "buildbarn"), "restart", f.dir, daemon).CombinedOutput(); err != nil {
		f.t.Fatalf("restart %s: %v\n%s", daemon, err, out)
	}
}
