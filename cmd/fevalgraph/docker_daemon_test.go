//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// testDaemon is a daemon that tests can do anything to.
type testDaemon struct {
	dir, host string
	env       []string
}

// startDaemon starts a daemon that has the tests' images, and ends it with the
// test.
func startDaemon(t *testing.T) *testDaemon {
	t.Helper()
	// Images do not use the stand-ins for uv.
	_, programs, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator))
	d := &testDaemon{dir: os.Getenv(daemonVariable), env: append(os.Environ(), "PATH="+programs)}
	end := "stop"
	if d.dir == "" {
		d.dir, end = filepath.Join(t.TempDir(), "docker"), "remove"
	}
	t.Cleanup(func() { d.script(t, end) })
	d.start(t)
	images := exec.Command(filepath.Join("..", "..", "scripts", "make-images"))
	images.Env = append(d.env, "DOCKER_HOST="+d.host)
	if out, err := images.CombinedOutput(); err != nil {
		t.Fatalf("making the images: %v\n%s", err, out)
	}
	// Leftovers of a test that was killed.
	for _, id := range strings.Fields(d.docker(t, "ps", "--all", "--quiet", "--filter", "label=fevalgraph")) {
		d.docker(t, "rm", "--force", "--volumes", id)
	}
	return d
}

// start does nothing when it runs.
func (d *testDaemon) start(t *testing.T) {
	t.Helper()
	d.host = strings.TrimSpace(d.script(t, "start"))
}

func (d *testDaemon) script(t *testing.T, verb string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join("..", "..", "scripts", "docker-daemon"), verb, d.dir)
	cmd.Env = d.env
	return d.output(t, cmd)
}

// docker runs the client.
func (d *testDaemon) docker(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Env = append(d.env, "DOCKER_HOST="+d.host)
	return d.output(t, cmd)
}

func (d *testDaemon) output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		t.Fatalf("%s: %v", cmd, err)
	}
	return string(out)
}

func (d *testDaemon) kill(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "dockerd.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatalf("killing the daemon: %v", err)
	}
}

// startBare starts the killed daemon while its processes still run, like a service manager. Unlike start, it does not clean up.
func (d *testDaemon) startBare(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(d.dir, "dockerd.log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("dockerd", "--config-file="+filepath.Join(d.dir, "daemon.json"), "--pidfile="+filepath.Join(d.dir, "dockerd.pid"))
	cmd.Env, cmd.Stdout, cmd.Stderr = d.env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); {
		status := exec.Command(filepath.Join("..", "..", "scripts", "docker-daemon"), "status", d.dir)
		status.Env = d.env
		if status.Run() == nil {
			return
		}
		select {
		case <-ended:
			t.Logf("the daemon does not start next to its leftovers: %v", cmd.ProcessState)
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Log("the daemon does not respond next to its leftovers")
}

// killInit kills the first process of a container of the run's, as soon as
// there is one, and reports whether there was.
func (d *testDaemon) killInit(t *testing.T, run *underway) bool {
	t.Helper()
	for {
		for _, id := range strings.Fields(d.docker(t, "ps", "--quiet", "--filter", "label=fevalgraph")) {
			// It can be gone by now.
			cmd := exec.Command("docker", "inspect", "--format", "{{.State.Pid}}", id)
			cmd.Env = append(d.env, "DOCKER_HOST="+d.host)
			out, err := cmd.Output()
			if err != nil {
				continue
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
			if err == nil && pid > 0 && d.contains(pid) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				return true
			}
		}
		select {
		case <-run.done:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// contains reports whether a process is in a container of the daemon's: the
// number can be another process's by now.
func (d *testDaemon) contains(pid int) bool {
	text, err := os.ReadFile(filepath.Join(d.dir, "daemon.json"))
	if err != nil {
		return false
	}
	var config struct {
		Parent string `json:"cgroup-parent"`
	}
	if json.Unmarshal(text, &config) != nil || config.Parent == "" {
		return false
	}
	cgroups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	return err == nil && strings.Contains(string(cgroups), config.Parent+"/")
}

// holdsNothing fails if any object has one of the project's labels.
func (d *testDaemon) holdsNothing(t *testing.T) {
	t.Helper()
	for _, list := range [][]string{
		{"ps", "--all", "--format", "{{.Names}} {{.Status}} {{.Labels}}"},
		{"volume", "ls", "--format", "{{.Name}} {{.Labels}}"},
		{"network", "ls", "--format", "{{.Name}} {{.Labels}}"},
	} {
		if left := d.docker(t, slices.Concat(list, []string{"--filter", "label=fevalgraph"})...); left != "" {
			t.Errorf("docker %s: left are\n%s", list[0], left)
		}
	}
	// Without a label, too: no other test uses this daemon.
	if left := d.docker(t, "volume", "ls", "--quiet"); left != "" {
		t.Errorf("volumes are left:\n%s", left)
	}
	if left := d.docker(t, "ps", "--all", "--quiet"); left != "" {
		t.Errorf("containers are left:\n%s", left)
	}
}

// forgetSnapshots removes what earlier rounds have prepared.
func (d *testDaemon) forgetSnapshots(t *testing.T) {
	t.Helper()
	for _, image := range strings.Fields(d.docker(t, "images", "--format", "{{.Repository}}:{{.Tag}}", "fevalgraph/snapshot")) {
		d.docker(t, "rmi", image)
	}
}
