//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// onClusters is a checkout of testdata/skypilot, or of another project for clusters.
type onClusters struct {
	*checkout
	machines *machines
	log      string // lines of graders, one for each that ran
}

// checkout copies the project. Its graders note that they ran where clusters can, too.
func (m *machines) checkout(t *testing.T) *onClusters {
	t.Helper()
	return m.openProject(t, "skypilot")
}

// openProject copies a project of testdata.
func (m *machines) openProject(t *testing.T, project string) *onClusters {
	t.Helper()
	c := &onClusters{copyCheckout(t, filepath.Join("testdata", project), t.TempDir()), m, ""}
	notes, err := os.MkdirTemp(filepath.Join(m.dir, "slurm", "home"), "graded-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(notes) })
	c.log = filepath.Join(notes, "log")
	for _, dir := range []string{"answers", "tested", "sums"} {
		if err := os.Mkdir(filepath.Join(c.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config, err := os.ReadFile(filepath.Join(m.dir, "sky", "home", ".slurm", "config"))
	if err == nil {
		err = os.MkdirAll(filepath.Join(c.place, "home", ".slurm"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(c.place, "home", ".slurm", "config"), config, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, programs, _ := strings.Cut(os.Getenv("PATH"), ":") // without the stand-ins: clusters have the real programs, too
	caches, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); reachesIndex(name) {
			c.env = append(c.env, pair)
		}
	}
	c.env = append(c.env, "FEVALGRAPH_VAR_api="+m.api, "NO_PROXY=127.0.0.1", "UV_CACHE_DIR="+filepath.Join(caches, "uv"),
		"PATH="+filepath.Dir(m.judge)+":"+programs)
	t.Cleanup(func() {
		cmd := c.command("clean", "--clusters")
		if err := cmd.Run(); err != nil {
			t.Errorf("fevalgraph clean --clusters: %v\n%s", err, output(cmd))
		}
		c.queueIsEmpty()
	})
	return c
}

// ownServer makes runs start an API server, with a home like that of the tests' server.
func (c *onClusters) ownServer() {
	c.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	home, bin := filepath.Join(c.place, "home"), filepath.Join(c.place, "bin")
	copying := exec.Command("cp", "-a", "wheels", "catalogs", "config.yaml", filepath.Join(home, ".sky"))
	copying.Dir = filepath.Join(c.machines.dir, "sky", "home", ".sky")
	err = errors.Join(os.Mkdir(filepath.Join(home, ".sky"), 0o755), os.Mkdir(bin, 0o755), copying.Run())
	if err == nil {
		err = os.Symlink(filepath.Join(os.Getenv("FEVALGRAPH_SKYPILOT_KEEP"), "venv", "bin", "sky"), filepath.Join(bin, "sky"))
	}
	if err != nil {
		c.t.Fatal(err)
	}
	// Port 9 is closed, so connections to other machines fail at once.
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		c.env = append(c.env, name+"=http://127.0.0.1:9", strings.ToLower(name)+"=http://127.0.0.1:9")
	}
	c.env = append(c.env, "FEVALGRAPH_VAR_api=local", "SKYPILOT_API_SERVER_LOCAL_PORT="+port, "SKYPILOT_USER_ID=feva1e58", "SKYPILOT_DISABLE_USAGE_COLLECTION=1",
		"no_proxy=127.0.0.1,localhost", "TERM=dumb", "PATH="+bin+":"+os.Getenv("PATH"))
}

// write makes a file of the project.
func (c *onClusters) write(file, text string) {
	c.t.Helper()
	file = filepath.Join(c.dir, file)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// answers writes solutions of a problem that is graded.
func (c *onClusters) answers(problem string, solutions int) {
	c.t.Helper()
	for i := range solutions {
		c.write(fmt.Sprintf("answers/%s/s%d.txt", problem, i), fmt.Sprintf("%s/s%d 0.%03d\n", problem, i, i))
	}
}

// sums writes solutions of the problem with a judge.
func (c *onClusters) sums() {
	c.t.Helper()
	c.write("sums/right.cpp", "#include <cstdio>\nint main() { long a, b; if (scanf(\"%ld %ld\", &a, &b) == 2) printf(\"%ld\\n\", a + b); }\n")
	c.write("sums/first.cpp", "#include <cstdio>\nint main() { long a; if (scanf(\"%ld\", &a) == 1) printf(\"%ld\\n\", a); }\n")
	c.write("sums/crash.cpp", "int main() { *(volatile int *)0 = 1; }\n")
}

// with returns a command of the program, with variables NAME=VALUE of the configuration.
func (c *onClusters) with(variables []string, args ...string) *exec.Cmd {
	cmd := c.command(args...)
	cmd.Path, cmd.Err = c.machines.program, nil
	for _, v := range variables {
		cmd.Env = append(cmd.Env, "FEVALGRAPH_VAR_"+v)
	}
	return cmd
}

// command returns a command of the program that clusters get.
func (c *onClusters) command(args ...string) *exec.Cmd {
	cmd := c.checkout.command(args...)
	cmd.Path, cmd.Err = c.machines.program, nil
	return cmd
}

// judge runs until everything is judged, and returns the plain output.
func (c *onClusters) judge(variables ...string) string {
	c.t.Helper()
	cmd := c.with(variables, "run")
	return c.judged(cmd, cmd.Run())
}

// judged checks how a run ended.
func (c *onClusters) judged(cmd *exec.Cmd, err error) string {
	c.t.Helper()
	said := output(cmd)
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1) {
		c.t.Fatalf("fevalgraph run: %v\n%s", err, said)
	}
	r := c.lastRun()
	if r.end.Failed+r.end.Broken+r.end.Blocked+r.end.Interrupted+r.end.Skipped > 0 {
		c.t.Fatalf("not everything is judged: %+v\n%s", r.end, said)
	}
	c.t.Logf("%d nodes ran, %d were cached, %d preempted, in %.1fs; launched %v, reused %d",
		r.end.Executed, r.end.Cached, r.end.Preempted, r.end.Seconds, c.launched(said), strings.Count(said, "reusing cluster "))
	return said
}

var launching = regexp.MustCompile(`launching cluster (\S+)`)

// launched returns the clusters that a run reports as launched.
func (c *onClusters) launched(said string) (clusters []string) {
	c.t.Helper()
	for _, m := range launching.FindAllStringSubmatch(said, -1) {
		if !strings.HasPrefix(m[1], c.prefix()) {
			c.t.Errorf("cluster %s does not belong to this project, %s", m[1], c.prefix())
		}
		clusters = append(clusters, m[1])
	}
	return clusters
}

// prefix begins the names of the project's clusters.
func (c *onClusters) prefix() string {
	sum := sha256.Sum256([]byte(filepath.Join(c.dir, ".fevalgraph")))
	return "fg-" + hex.EncodeToString(sum[:3]) + "-"
}

// jobs returns the numbers of Slurm's jobs that are clusters of the project.
func (c *onClusters) jobs() (numbers []string) {
	c.t.Helper()
	for line := range strings.Lines(c.machines.slurm(c.t, "squeue", "--noheader", "--format=%A %j")) {
		if number, name, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, c.prefix()) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// queueIsEmpty fails if Slurm has a job of the project. A job takes some seconds to end.
func (c *onClusters) queueIsEmpty() {
	c.t.Helper()
	await.Until(c.t, "Slurm has no job of the project", func() bool { return len(c.jobs()) == 0 })
	if left := c.leases(); len(left) > 0 {
		c.t.Errorf("leases are left: %q", left)
	}
}

// leases returns the files of the project's clusters.
func (c *onClusters) leases() []string {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.dir, ".fevalgraph", "clusters", "*.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	return files
}

// graded counts how often each solution was graded, from the lines of graders.
func (c *onClusters) graded() map[string]int {
	c.t.Helper()
	content, err := os.ReadFile(c.log)
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	times := map[string]int{}
	for line := range bytes.Lines(content) {
		times[strings.TrimSpace(string(line))]++
	}
	return times
}

// napping returns variables of a run whose cells take a number of seconds and record that they ran; another number
// makes all stale.
func (c *onClusters) napping(seconds float64, more ...string) []string {
	c.t.Helper()
	if err := os.RemoveAll(c.log); err != nil {
		c.t.Fatal(err)
	}
	return append([]string{"isolation=none", "log=" + c.log, "nap=" + strconv.FormatFloat(seconds, 'f', -1, 64)}, more...)
}

// runUntil starts a run and waits until a number of cells were graded.
func (c *onClusters) runUntil(graded int, variables ...string) *underway {
	c.t.Helper()
	r := startRun(c.t, c.with(variables, "run"))
	var ended bool
	there := func() bool {
		ended = r.ended()
		return ended || len(c.graded()) >= graded
	}
	for waited := 0; !await.For(there); waited++ { // a launch takes minutes on a busy machine
		if waited == 2 {
			r.kill()
			c.t.Fatalf("%d of %d solutions were graded\n%s", len(c.graded()), graded, output(r.cmd))
		}
	}
	if ended {
		c.t.Fatalf("the run ended before %d solutions were graded: %v\n%s", graded, r.cmd.ProcessState, output(r.cmd))
	}
	return r
}
