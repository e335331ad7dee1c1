package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// partProject is a checkout with another problem, whose tests are its own, and
// more solutions, each judged so many times.
func partProject(t *testing.T, times int) *checkout {
	t.Helper()
	c := newCheckoutOf(t, filepath.Join("testdata", "project"), t.TempDir())
	c.append("fevalgraph.hcl", fmt.Sprintf("\nsuite \"all\" {\n  repeat = %d\n}\n", times))
	err := os.CopyFS(c.dir+"/others", os.DirFS(c.dir+"/tests"))
	for _, name := range []string{"a", "b", "c"} {
		err = errors.Join(err, os.CopyFS(c.dir+"/more/"+name, os.DirFS(c.dir+"/solutions/good")))
	}
	if err != nil {
		t.Fatal(err)
	}
	c.append("fevalgraph.hcl", `
problem "other" {
  entry = "python kv.py"
  pytest { root = "others" }
  checkpoint "one" {}
  checkpoint "two" {}
  pass { policy = "core-cases" }
}

solution "more" {
  for_each = toset([for file in fileset("more", "*/one/kv.py") : dirname(dirname(file))])
  name     = each.key
  problem  = problem.other
  source   = "more/${each.key}/${checkpoint.name}"
}

suite "some" {
  matrix {
    solution = [solution.more]
  }
}
`)
	return c
}

// mayFail runs, which may end with exit code 1 for what the tests say.
func (c *checkout) mayFail(args ...string) (stdout string) {
	c.t.Helper()
	cmd := c.command(args...)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		c.t.Fatalf("fevalgraph %q: %v\n%s", args, err, output(cmd))
	}
	return fmt.Sprint(cmd.Stdout)
}

// settleFailing is settle for a project in which something fails.
func (c *checkout) settleFailing() {
	c.t.Helper()
	for range 20 {
		c.mayFail("run")
		if c.repeated() {
			return
		}
		time.Sleep(settling)
	}
	c.t.Fatal("a run in which nothing changed is never repeated from memory")
}

// takenOver is how many nodes the last run decided nothing about.
func (c *checkout) takenOver() int {
	c.t.Helper()
	run, err := event.FindRun(filepath.Join(c.dir, ".fevalgraph"), "latest")
	if err != nil {
		c.t.Fatal(err)
	}
	return c.served(run)
}

// sameInFull fails unless a run in full finds nothing to do and comes to what the
// last run did.
func (c *checkout) sameInFull(what, shown string) {
	c.t.Helper()
	c.sameWithoutMemory(what, "", "status")
	c.sameWithoutMemory(what, "", "plan")
	part, results, again := c.lastRun(), c.results(), c.mayFail("results")
	c.mayFail("run", "-v", "-q")
	whole := c.lastRun()
	if c.takenOver() != 0 {
		c.t.Fatalf("%s: a verbose run was no run in full", what)
	}
	if len(whole.executed) != 0 {
		c.t.Fatalf("%s: %q had to run after the run of a part", what, whole.executed)
	}
	if got := c.results(); got != results {
		c.t.Fatalf("%s: results of the part:\n%s\nin full:\n%s", what, results, got)
	}
	if shown != again {
		c.t.Fatalf("%s: the run showed\n%s\nresults are\n%s", what, shown, again)
	}
	if part.end.Nodes != whole.end.Nodes || part.end.Cached+part.end.Executed != whole.end.Cached || part.end.Exit != whole.end.Exit ||
		part.end.Executed != len(part.executed) || part.start.Nodes != whole.start.Nodes || len(part.states) != len(whole.states) {
		c.t.Fatalf("%s: the part ended with %+v, all with %+v", what, part.end, whole.end)
	}
}

// editable are source files of a partProject, and edits what may happen to one.
var editable = []string{"solutions/late/one/kv.py", "more/a/one/kv.py", "more/b/two/kv.py", "more/c/one/notes.txt"}

var edits = map[string]func(path string) error{
	"written": func(path string) error {
		content, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(path, append(content, "# more\n"...), 0o644))
	},
	"other verdicts": func(path string) error {
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte("def put")) {
			content = bytes.ReplaceAll(content, []byte("def put"), []byte("def pat")) // as long
		} else {
			content = bytes.ReplaceAll(content, []byte("def pat"), []byte("def put"))
		}
		return errors.Join(err, os.WriteFile(path, content, 0o644))
	},
	"mode": func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode()^0o111)
	},
	"touched": func(path string) error { return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) },
	"replaced": func(path string) error {
		content, err := os.ReadFile(path)
		err = errors.Join(err, os.WriteFile(path+"~", append(content, "#\n"...), 0o644))
		return errors.Join(err, os.Rename(path+"~", path))
	},
	"time put back": func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		err = errors.Join(err, os.WriteFile(path, append([]byte("#\n"), content...), 0o644))
		return errors.Join(err, os.Chtimes(path, info.ModTime(), info.ModTime()))
	},
}

// seeded is a source of random numbers that FEVALGRAPH_TEST_SEED makes give the
// same ones again.
func seeded(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("FEVALGRAPH_TEST_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("FEVALGRAPH_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// After changes of source files alone a run decides about what depends on them,
// and comes to what a run in full comes to.
func TestRunOfAPart(t *testing.T) {
	names := slices.Sorted(maps.Keys(edits))
	random := seeded(t)
	c := partProject(t, repeats)
	c.settleFailing()
	parts := 0
	for step := range 8 {
		var what string
		for range 1 + random.IntN(2) {
			name, source := names[random.IntN(len(names))], editable[random.IntN(len(editable))]
			if step < len(names) && what == "" {
				name = names[step] // each of them once
			}
			what += fmt.Sprintf("step %d: %s %s; ", step, source, name)
			if err := edits[name](filepath.Join(c.dir, source)); err != nil {
				t.Fatal(err)
			}
		}
		shown := c.mayFail("run")
		if c.takenOver() > 0 {
			parts++
		}
		c.sameInFull(what, shown)
	}
	// One may come so soon after another that the times of files do not tell.
	if parts == 0 {
		t.Error("no run was one of a part")
	}
}

// What a run of a part relies on may be damaged or gone: then all is decided.
func TestRunOfAPartAfterDamage(t *testing.T) {
	for name, spoil := range map[string]func(c *checkout) error{
		"nothing":        func(*checkout) error { return nil },
		"conclusions":    func(c *checkout) error { return flipEvery(c.dir+"/.fevalgraph/conclusions", 50) },
		"no conclusions": func(c *checkout) error { return os.Remove(c.dir + "/.fevalgraph/conclusions") },
		"sources":        func(c *checkout) error { return flipEvery(c.dir+"/.fevalgraph/sources", 50) },
		"no sources":     func(c *checkout) error { return os.Remove(c.dir + "/.fevalgraph/sources") },
		"results": func(c *checkout) error {
			return flipEvery(filepath.Join(c.dir, ".fevalgraph/runs", c.lastRun().start.Run, "results.json"), 500)
		},
		"configuration":    func(c *checkout) error { return flipEvery(c.dir+"/.fevalgraph/configuration", 50) },
		"no configuration": func(c *checkout) error { return os.Remove(c.dir + "/.fevalgraph/configuration") },
		"index of files":   func(c *checkout) error { return flipEvery(c.dir+"/.fevalgraph/files", 9) },
		"added beside":     func(c *checkout) error { return os.WriteFile(c.dir+"/more/a/one/new.py", nil, 0o644) },
		"solution added":   func(c *checkout) error { return os.CopyFS(c.dir+"/more/d", os.DirFS(c.dir+"/more/c")) },
		"configuration changed": func(c *checkout) error {
			return os.WriteFile(c.dir+"/x.feval.hcl", []byte("pool \"p\" { slots = 2 }\n"), 0o644)
		},
		"results of cells lost": func(c *checkout) error { return c.spoilBlobs(`"checkpoints":`, os.Remove) },
		"results of cells damaged": func(c *checkout) error {
			return c.spoilBlobs(`"checkpoints":`, func(path string) error {
				return errors.Join(os.Chmod(path, 0o644), flipEvery(path, 7))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := partProject(t, 1)
			c.settleFailing()
			content, err := os.ReadFile(c.dir + "/more/a/one/kv.py")
			err = errors.Join(err, os.WriteFile(c.dir+"/more/a/one/kv.py", bytes.ReplaceAll(content, []byte("def put"), []byte("def pat")), 0o644), spoil(c))
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range askedOf([]string{`pytest:other/one/a@local.host`, `parse:kv/one/good@local.host`, `tests:kv/one`}) {
				c.sameWithoutMemory(name, "", args...)
			}
			shown := c.mayFail("run")
			if got := c.takenOver() > 0; got != (name == "nothing" || name == "index of files" || name == "status") {
				t.Errorf("the run was one of a part: %v", got)
			}
			c.sameInFull(name, shown)
		})
	}
}

// afterAPart is a partProject in which the last run was one of a part.
func afterAPart(t *testing.T) *checkout {
	t.Helper()
	c := partProject(t, 1)
	c.settleFailing()
	if err := edits["other verdicts"](filepath.Join(c.dir, "more/b/one/kv.py")); err != nil {
		t.Fatal(err)
	}
	c.mayFail("run")
	if _, err := os.Stat(filepath.Join(c.dir, ".fevalgraph", "since")); c.takenOver() == 0 || err != nil {
		t.Fatalf("the run was none of a part: %v", err)
	}
	return c
}

// Nor is there anything wrong with the next run of a part when what an earlier one
// left is damaged, gone, or of another time.
func TestNextRunOfAPart(t *testing.T) {
	inState := func(c *checkout, name string) string { return filepath.Join(c.dir, ".fevalgraph", name) }
	for name, try := range map[string]struct {
		spoil func(c *checkout, record string) error // of that part
		whole bool                                   // is decided about
	}{
		"damaged":           {spoil: func(c *checkout, _ string) error { return flipEvery(inState(c, "since"), 50) }, whole: true},
		"gone":              {spoil: func(c *checkout, _ string) error { return os.Remove(inState(c, "since")) }, whole: true}, // there is more in the log
		"results damaged":   {spoil: func(_ *checkout, record string) error { return flipEvery(record+"/same.json", 500) }, whole: true},
		"patches damaged":   {spoil: func(_ *checkout, record string) error { return flipEvery(record+"/since.json", 50) }, whole: true},
		"log index damaged": {spoil: func(c *checkout, _ string) error { return flipEvery(inState(c, "buildlog.index"), 9) }},
		"of the part before": {whole: true, spoil: func(c *checkout, _ string) error {
			before, err := os.ReadFile(inState(c, "since"))
			err = errors.Join(err, edits["other verdicts"](filepath.Join(c.dir, "more/c/two/kv.py")))
			c.mayFail("run")
			return errors.Join(err, os.WriteFile(inState(c, "since"), before, 0o600))
		}},
		"of a run of everything before": {spoil: func(c *checkout, _ string) error {
			before, err := os.ReadFile(inState(c, "since"))
			c.mayFail("run", "-v") // in full
			c.settleFailing()
			return errors.Join(err, os.WriteFile(inState(c, "since"), before, 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := afterAPart(t)
			record := inState(c, "runs/"+c.lastRun().start.Run)
			c.settleFailing()
			if err := errors.Join(try.spoil(c, record), edits["other verdicts"](filepath.Join(c.dir, "more/a/one/kv.py"))); err != nil {
				t.Fatal(err)
			}
			shown := c.mayFail("run")
			if got := c.takenOver() == 0; got != try.whole {
				t.Errorf("the run decided about everything: %v", got)
			}
			c.sameInFull(name, shown)
		})
	}
}

// spoilBlobs does something to every small blob of the store that has a text.
func (c *checkout) spoilBlobs(text string, spoil func(path string) error) error {
	all, err := filepath.Glob(filepath.Join(c.place, "store", "cas", "*", "*"))
	spoiled := 0
	for _, path := range all {
		content, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr)
		if bytes.HasPrefix(content, []byte(`{"status":`)) && bytes.Contains(content, []byte(text)) {
			err = errors.Join(err, spoil(path))
			spoiled++
		}
	}
	if spoiled == 0 {
		err = errors.Join(err, errors.New("no blob is to be spoiled"))
	}
	return err
}

// A run of a part asks each backend who it is once: for the look at what changed,
// which its decisions rely on, too.
func TestRunOfAPartAsksOnce(t *testing.T) {
	t.Parallel()
	c := partProject(t, 1)
	bin, asked := t.TempDir(), filepath.Join(t.TempDir(), "asked")
	uv, err := exec.LookPath("uv")
	if err == nil {
		err = os.WriteFile(filepath.Join(bin, "uv"), fmt.Appendf(nil, "#!/bin/sh\necho \"uv $1\" >> '%s'\nexec '%s' \"$@\"\n", asked, uv), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	c.append("fevalgraph.hcl", fmt.Sprintf("\nbackend \"local\" \"host\" {\n  versions = [\"echo versions >> '%s'; echo 1\"]\n}\n", asked))
	c.settleFailing()
	if err := errors.Join(os.Remove(asked), edits["written"](filepath.Join(c.dir, "more/a/one/kv.py"))); err != nil {
		t.Fatal(err)
	}
	c.mayFail("run")
	if c.takenOver() == 0 || len(c.lastRun().executed) == 0 {
		t.Fatal("the run was not one of a part with something to do")
	}
	content, err := os.ReadFile(asked)
	lines := strings.Fields(string(content))
	slices.Sort(lines)
	if want := []string{"python", "uv", "versions"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("the backend was asked %q, %v", content, err)
	}
}
