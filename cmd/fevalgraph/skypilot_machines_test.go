//go:build unix

package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Variables of scripts/with-skypilot.
const (
	skyPilotVariable = "FEVALGRAPH_TEST_SKYPILOT" // the URL of an API server
	slurmVariable    = "FEVALGRAPH_TEST_SLURM"    // the directory of its scripts/skypilot and scripts/slurm
)

// machines is a separate SkyPilot on a separate Slurm for tests.
type machines struct {
	api, dir string
	program  string // fevalgraph, which clusters get: this program would be the tests there
	judge    string // go-judge
}

func newMachines(t *testing.T) *machines {
	t.Helper()
	m := &machines{api: os.Getenv(skyPilotVariable), dir: os.Getenv(slurmVariable), judge: os.Getenv(judgeVariable)}
	switch {
	case m.api == "" && os.Getenv(realVariable) == "":
		t.Skip("needs SkyPilot and Slurm; make test has them")
	case m.api == "" || m.dir == "":
		t.Fatalf("%s or %s is not set", skyPilotVariable, slurmVariable)
	}
	m.program = filepath.Join(t.TempDir(), "fevalgraph")
	build := exec.Command("go", "build", "-o", m.program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program for clusters: %v\n%s", err, out)
	}
	return m
}

// slurm runs a command of Slurm.
func (m *machines) slurm(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(m.dir, "slurm", "etc", "slurm.conf"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// killServer kills SkyPilot's API server with all that it does.
func (m *machines) killServer(t *testing.T) {
	t.Helper()
	m.control(t, "sky", "kill")
}

// startServer starts it again.
func (m *machines) startServer(t *testing.T) {
	t.Helper()
	at, err := url.Parse(m.api)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join("..", "..", "scripts", "skypilot"), "start", m.dir, at.Port())
	said, err := os.CreateTemp(t.TempDir(), "") // a pipe would be the server's, too, and never end
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(said.Name())
		t.Fatalf("%v\n%s", err, text)
	}
}

// control kills the unshare process of a part (what is "kill"), or runs a command in the part's namespaces
// (what is "inside").
func (m *machines) control(t *testing.T, part, what string, args ...string) {
	t.Helper()
	script := `set -e
dir=$1/$2 pidfile=$1/$2/pid do=$3
. ../../scripts/namespace.sh
pid=$(root_pid)
shift 3
case $do in
kill) kill -KILL "$pid"; await_exit 60 "$pid" ;;
inside) nsenter -m -p -t "$(pgrep -P "$pid")" "$@" </dev/null >/dev/null 2>&1 ;;
esac`
	cmd := exec.Command("bash", append([]string{"-c", script, "control", m.dir, part, what}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s %q: %v\n%s", part, what, args, err, out)
	}
}

// killNode kills a node's daemon. Its jobs go on.
func (m *machines) killNode(t *testing.T, node string) {
	t.Helper()
	pid, err := os.ReadFile(filepath.Join(m.dir, "slurm", "run", "slurmd."+node+".pid"))
	if err != nil {
		t.Fatal(err)
	}
	m.control(t, "slurm", "inside", "kill", "-KILL", strings.TrimSpace(string(pid)))
}

func (m *machines) startNode(t *testing.T, node string) {
	t.Helper()
	m.control(t, "slurm", "inside", "env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF="+filepath.Join(m.dir, "slurm", "etc", "slurm.conf"), "slurmd", "-N", node)
}
