//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/internal/testkit/coverdir"
	"github.com/fevalgraph/fevalgraph/internal/testkit/fakeuv"
)

// checkout is a copy of a project, with the directories that it shares with other checkouts.
type checkout struct {
	t     *testing.T
	dir   string
	place string   // HOME, TMPDIR and the store are below
	env   []string // more variables
}

// How often a checkout judges every cell, and how many pytest nodes that makes.
const repeats, cells = 2, 3 * repeats

// newCheckout copies testdata/project with more cells, so that there is
// something to interrupt.
func newCheckout(t *testing.T, place string) *checkout {
	t.Helper()
	c := copyCheckout(t, filepath.Join("testdata", "project"), place)
	c.append("fevalgraph.hcl", fmt.Sprintf("\nsuite \"all\" {\n  repeat = %d\n}\n", repeats))
	return c
}

// copyCheckout copies a project without other files.
func copyCheckout(t *testing.T, project, place string) *checkout {
	t.Helper()
	c := &checkout{t: t, dir: t.TempDir(), place: place}
	if err := copyProject(project, c.dir); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(place, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *checkout) append(file, text string) {
	c.t.Helper()
	f, err := os.OpenFile(filepath.Join(c.dir, file), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *checkout) command(args ...string) *exec.Cmd {
	cmd := exec.Command("fevalgraph", args...)
	cmd.Dir = c.dir
	cmd.Env = []string{
		"FEVALGRAPH_ISOLATION=none", // tests write to a file outside that they ran
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(c.place, "home"), "TMPDIR=" + filepath.Join(c.place, "tmp"),
		"FEVALGRAPH_CACHE_DIR=" + filepath.Join(c.place, "store"), "COLUMNS=2000",
	}
	cmd.Env = slices.Concat(cmd.Env, coverdir.Env(), c.env)
	cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
	return cmd
}

func output(cmd *exec.Cmd) string { return fmt.Sprint(cmd.Stdout, cmd.Stderr) }

// run runs to the end, which must be exit code 0.
func (c *checkout) run(args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := c.command(args...)
	if err := cmd.Run(); err != nil {
		c.t.Fatalf("fevalgraph %s: %v\n%s", strings.Join(args, " "), err, output(cmd))
	}
	return cmd
}

// mayFail runs, and accepts exit code 1, which failed tests cause.
func (c *checkout) mayFail(args ...string) (stdout string) {
	c.t.Helper()
	cmd := c.command(args...)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		c.t.Fatalf("fevalgraph %q: %v\n%s", args, err, output(cmd))
	}
	return fmt.Sprint(cmd.Stdout)
}

// records returns the recorded runs, with their user's key.
func (c *checkout) records() event.Records { return recordsIn(c.dir, c.command().Env) }

// lastRun returns the record of the last run that ended.
func (c *checkout) lastRun() *runRecord {
	c.t.Helper()
	r, err := lastRun(c.records())
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// states returns the states of nodes in the records of all runs, ended or not.
func (c *checkout) states() map[string]event.State {
	c.t.Helper()
	all := map[string]event.State{}
	ids, err := event.Runs(c.records())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, id := range ids {
		run, err := event.FindRun(c.records(), id)
		if err == nil {
			err = run.Each(func(e event.Event) bool {
				if done, ok := e.(event.NodeDone); ok {
					all[done.Addr] = done.State
				}
				return true
			})
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.t.Fatal(err)
		}
	}
	return all
}

// results returns the results of the last run without what differs between runs.
func (c *checkout) results() string {
	c.t.Helper()
	cmd := c.run("results", "--format", "json")
	var value map[string]any
	if err := json.Unmarshal(cmd.Stdout.(*bytes.Buffer).Bytes(), &value); err != nil {
		c.t.Fatal(err)
	}
	encoded, err := json.MarshalIndent(timeless(value), "", " ")
	if err != nil {
		c.t.Fatal(err)
	}
	return string(encoded)
}

// timeless drops ids of runs and durations.
func timeless(value any) any {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "run")
		delete(v, "duration_ms")
		for name := range v {
			v[name] = timeless(v[name])
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	}
	return value
}

// judged counts the pytest runs of all checkouts at the place.
func (c *checkout) judged() int {
	c.t.Helper()
	content, err := os.ReadFile(filepath.Join(c.place, "home", ".cache", "uv", fakeuv.LogFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.t.Fatal(err)
	}
	return bytes.Count(content, []byte("\n"))
}

// awaitForked waits, after a kill, until every child of the killed process has become another program. Until
// then it holds the dead one's locks, so that the next process takes its sessions for living ones; on a busy
// machine that can take longer than the next start.
func (c *checkout) awaitForked() {
	c.t.Helper()
	await.Until(c.t, "every child of what was killed is another program", func() bool {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			c.t.Fatal(err)
		}
		return !slices.ContainsFunc(lines, func(name string) bool {
			line, _ := os.ReadFile(name) // it can have ended
			environment, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "environ"))
			return bytes.HasPrefix(line, []byte("fevalgraph\x00")) && bytes.Contains(environment, []byte("="+c.place))
		})
	})
}

// noLeftovers fails when a workspace or a process of a session is left.
func (c *checkout) noLeftovers() {
	c.t.Helper()
	tmp := filepath.Join(c.place, "tmp")
	workspaces, err := filepath.Glob(filepath.Join(tmp, "fevalgraph-*", "*"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, w := range workspaces {
		c.t.Errorf("workspace %s is left", w)
	}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, name := range environments {
		environment, err := os.ReadFile(name)
		if err == nil && bytes.Contains(environment, []byte("="+tmp)) {
			c.t.Errorf("the process of %s is left:\n%s", name, bytes.ReplaceAll(environment, []byte{0}, []byte{'\n'}))
		}
	}
}
