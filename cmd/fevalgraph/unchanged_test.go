package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// repeated reports whether the last run was repeated from memory.
func (c *checkout) repeated() bool {
	c.t.Helper()
	run, err := event.FindRun(filepath.Join(c.dir, ".fevalgraph"), "latest")
	if err != nil {
		c.t.Fatal(err)
	}
	return c.served(run) == c.lastRun().start.Nodes
}

// served is how many nodes a run took over from an earlier one without deciding
// about them.
func (c *checkout) served(run *event.Run) int {
	c.t.Helper()
	nodes := 0
	err := run.Each(func(e event.Event) bool {
		if same, ok := e.(event.RunSame); ok {
			nodes = same.Nodes
		}
		return true
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return nodes
}

// settle runs until the next run would be repeated from memory.
func (c *checkout) settle() {
	c.t.Helper()
	c.run("run")
	for range 20 {
		time.Sleep(settling)
		c.run("run")
		if c.repeated() {
			return
		}
	}
	c.t.Fatal("a run in which nothing changed is never repeated from memory")
}

// A run that is repeated from memory shows what the one before it did, and its
// record says the same of every node.
func TestUnchangedRun(t *testing.T) {
	c := newCheckout(t, t.TempDir())
	c.settle()
	shown := func(args ...string) string {
		cmd := c.run(args...)
		return fmt.Sprint(cmd.Stdout)
	}
	again := shown("run")
	if !c.repeated() {
		t.Fatal("the run was not repeated")
	}
	same := c.lastRun()
	results, leaf := c.results(), shown("results")
	if shown("run", "-v", "-q"); c.repeated() { // what is asked for in another way is decided in full
		t.Error("a verbose run was repeated")
	}
	whole := c.lastRun()
	if got := c.results(); got != results {
		t.Errorf("results of the repeated run:\n%s\nof one in full:\n%s", results, got)
	}
	if again != leaf || again == "" {
		t.Errorf("the run showed\n%s\nresults are\n%s", again, leaf)
	}
	if len(same.states) != len(whole.states) || same.end.Cached != whole.end.Cached || same.end.Nodes != whole.end.Nodes {
		t.Errorf("repeated: %d nodes, %+v; in full: %d, %+v", len(same.states), same.end, len(whole.states), whole.end)
	}
	for addr, state := range whole.states {
		if same.states[addr] != state {
			t.Errorf("%s: %s, want %s", addr, same.states[addr], state)
		}
	}
	if strings.Contains(results, `"`+same.start.Run) {
		t.Error("timeless results have the id of a run") // or else the comparison above is of nothing
	}
	if got := shown("results", "--format", "json"); !strings.Contains(got, c.lastRun().start.Run) {
		t.Error("results do not name the run that they are of")
	}
}

// unsettled is something that is changed after a run that is remembered.
type unsettled struct {
	change func(*checkout) error
	runs   bool // something has to run then
	env    string
	args   []string
}

// flavored is a project whose configuration depends on variables and files.
func flavored(t *testing.T) *checkout {
	t.Helper()
	c := newCheckoutOf(t, filepath.Join("testdata", "project"), t.TempDir())
	err := errors.Join(os.Mkdir(c.dir+"/flavors", 0o755), os.WriteFile(c.dir+"/flavors/a.txt", []byte("sweet"), 0o644), os.MkdirAll(c.dir+"/assets/words/extra", 0o755))
	if err != nil {
		t.Fatal(err)
	}
	c.append("fevalgraph.hcl", `
variable "flavor" { default = "a" }
backend "local" "host" {
  inherit = ["INHERITED"]
  env     = { FLAVOR = var.flavor, FILES = join(" ", fileset("flavors", "*.txt")), FILE = file("flavors/a.txt") }
}
`)
	return c
}

// unsettling is whatever a run of a flavored project depends on, each changed.
func unsettling() map[string]unsettled {
	edit := func(name, old, new string) func(*checkout) error {
		return func(c *checkout) error {
			path := filepath.Join(c.dir, name)
			content, err := os.ReadFile(path)
			if err == nil && !bytes.Contains(content, []byte(old)) {
				err = fmt.Errorf("%q is not in %s", old, name)
			}
			return errors.Join(err, os.WriteFile(path, bytes.ReplaceAll(content, []byte(old), []byte(new)), 0o644))
		}
	}
	blobs := func(c *checkout) ([]string, error) {
		return filepath.Glob(filepath.Join(c.place, "store", "cas", "*", "*"))
	}
	return map[string]unsettled{
		"source":           {change: edit("solutions/good/one/kv.py", "def", "def "), runs: true},
		"source added":     {change: func(c *checkout) error { return os.WriteFile(c.dir+"/solutions/good/one/new.py", nil, 0o644) }, runs: true},
		"source removed":   {change: func(c *checkout) error { return os.RemoveAll(c.dir + "/assets/words/extra") }, runs: true},
		"mode":             {change: func(c *checkout) error { return os.Chmod(c.dir+"/solutions/good/one/kv.py", 0o755) }, runs: true},
		"link to a source": {change: func(c *checkout) error { return os.Symlink("kv.py", c.dir+"/solutions/good/one/link.py") }, runs: true},
		"configuration":    {change: edit("fevalgraph.hcl", "20s", "21s"), runs: true},
		"comment":          {change: edit("fevalgraph.hcl", "# A problem", "# One problem")},
		"sibling": {change: func(c *checkout) error {
			return os.WriteFile(c.dir+"/more.feval.hcl", []byte("pool \"p\" { slots = 2 }\n"), 0o644)
		}},
		"assignments": {change: func(c *checkout) error {
			return os.WriteFile(c.dir+"/x.auto.vars.hcl", []byte("flavor = \"b\"\n"), 0o644)
		}, runs: true},
		"variable":          {env: "FEVALGRAPH_VAR_flavor=b", runs: true},
		"flag":              {args: []string{"--var", "flavor=b"}, runs: true},
		"inherited":         {env: "INHERITED=b", runs: true},
		"path of programs":  {env: "PATH=" + os.Getenv("PATH") + ":/nowhere"},
		"fileset":           {change: func(c *checkout) error { return os.WriteFile(c.dir+"/flavors/b.txt", nil, 0o644) }, runs: true},
		"file":              {change: edit("flavors/a.txt", "sweet", "sour"), runs: true},
		"locked":            {change: edit("fevalgraph.lock", "==1.0.0", "==1.0.1"), runs: true},
		"selection":         {args: []string{"problem=kv"}},
		"force":             {args: []string{"--force", "kind=parse"}, runs: true},
		"build log removed": {change: func(c *checkout) error { return os.Remove(c.dir + "/.fevalgraph/buildlog") }},
		"store removed":     {change: func(c *checkout) error { return os.RemoveAll(c.place + "/store") }, runs: true},
		"memory damaged":    {change: func(c *checkout) error { return flipEvery(c.dir+"/.fevalgraph/unchanged", 97) }},
		"record removed":    {change: func(c *checkout) error { return os.RemoveAll(c.dir + "/.fevalgraph/runs") }},
		"blobs damaged": {change: func(c *checkout) error {
			all, err := blobs(c)
			for _, path := range all {
				err = errors.Join(err, os.Chmod(path, 0o644), flipEvery(path, 3))
			}
			return err
		}, runs: true},
	}
}

// Whatever a run depends on and is changed makes the next one look at
// everything, whether something has to run then or not.
func TestWhatUnsettlesAnUnchangedRun(t *testing.T) {
	for name, try := range unsettling() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := flavored(t)
			c.settle()
			before := c.results()
			if c.run("run"); !c.repeated() {
				t.Fatal("the run before the change was not repeated")
			}
			addrs := c.addresses()
			if try.change != nil {
				if err := try.change(c); err != nil {
					t.Fatal(err)
				}
			}
			c.readersSee(name, try, slices.DeleteFunc(addrs, func(addr string) bool { return !strings.Contains(addr, "good") }))
			cmd := c.command(append([]string{"run"}, try.args...)...)
			if try.env != "" {
				cmd.Env = append(cmd.Env, try.env)
			}
			var exit *exec.ExitError
			if err := cmd.Run(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
				t.Fatalf("%v\n%s", err, output(cmd))
			}
			if c.repeated() {
				t.Error("the run was repeated from memory")
			}
			if got := len(c.lastRun().executed) > 0; got != try.runs {
				t.Errorf("something ran: %v, want %v: %q", got, try.runs, c.lastRun().executed)
			}
			if !try.runs && name != "selection" && c.results() != before {
				t.Error("the results are others")
			}
		})
	}
}

// flipEvery flips a bit of every nth byte of a file.
func flipEvery(path string, n int) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i := n - 1; i < len(content); i += n {
		content[i] ^= 4
	}
	return os.WriteFile(path, content, 0o644)
}
