//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// trapProject is a command problem whose score describes its workspace.
const trapProject = `
variable "flavor" { default = "a" }
problem "p" {
  command {
    root     = "bench"
    solution = "answer"
    argv     = ["./check.sh"]
    env      = { FLAVOR = var.flavor, SEEN = join(" ", fileset("linked", "*.txt")) }
  }
  PLACE
  pass { when = self.score >= 50 }
}
solution "s" {
  for_each = toset(fileset("solutions", "*.txt"))
  name     = each.key
  problem  = problem.p
  source   = "solutions/${each.key}"
}
export "json" "all" {
  from = suite.default
  path = "out/all.json"
}
`

// trapAssets are the assets of a trapProject.
const trapAssets = `asset "globbed" { source = "linked/*.txt" }
  asset "shared" { source = "shared" }`

// newTrap returns a world with a trapProject that has been run, and would be recognised
// as unchanged.
func newTrap(t *testing.T, assets string) (*diffWorld, diffTree) {
	t.Helper()
	longtest.Skip(t)
	w := newDiffWorld(t, 1, diffMachine{})
	d := diffTree(w.c.dir)
	d.write("fevalgraph.hcl", strings.ReplaceAll(trapProject, "PLACE", assets), 0o644)
	d.write("bench/check.sh", "#!/bin/sh\n"+diffCheck, 0o755)
	d.write("v1/a.txt", "a\n", 0o644)
	must(os.Symlink("v1", d.path("linked")))
	d.write("shared/words.txt", "words\n", 0o644)
	for _, name := range []string{"one", "two", "three"} {
		d.write("solutions/"+name+".txt", name+"\n", 0o644)
	}
	return w, d
}

// settled runs until what there is would be recognised as unchanged.
func (w *diffWorld) settled() {
	w.t.Helper()
	w.check()
	for range 2 {
		w.wait()
		w.check()
	}
}

// Files behind a link to a directory count for filesets, for the patterns of assets, and for a project that is entered
// through a link.
func TestBehindLinks(t *testing.T) {
	for name, assets := range map[string]string{"fileset": "", "asset": trapAssets} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, entered := range []bool{false, true} {
				w, d := newTrap(t, assets)
				dir := w.c.dir
				if entered {
					dir = w.alias
				}
				expect := func(what string) {
					t.Helper()
					want := w.cleanOutcome()
					if got := w.outcomeIn(w.c, dir); got.results != want.results {
						t.Errorf("entered through a link: %v: %s: the results are\n%s\nof a clean run\n%s", entered, what, got.results, want.results)
					}
				}
				expect("nothing")
				for _, change := range []struct {
					what string
					make func()
				}{
					{"a file more", func() { d.write("v1/b.txt", "b\n", 0o644) }},
					{"another target", func() {
						d.write("v2/a.txt", "c\n", 0o644)
						must(os.Symlink("v2", d.path("linked~")))
						must(os.Rename(d.path("linked~"), d.path("linked")))
					}},
					{"a file more there", func() { d.write("v2/c.txt", "c\n", 0o644) }},
					{"a file less", func() { must(os.Remove(d.path("v2/a.txt"))) }},
				} {
					for range 2 {
						w.wait()
						expect("waited")
					}
					change.make()
					expect(change.what)
				}
			}
		})
	}
}

// An asset's pattern can become the name of a file, and no longer be one.
func TestPatternIsFileName(t *testing.T) {
	t.Parallel()
	w, d := newTrap(t, `asset "globbed" { source = "shared/[ab].txt" }`)
	d.write("shared/a.txt", "a\n", 0o644)
	w.settled()
	d.write("shared/[ab].txt", "the file\n", 0o644)
	w.settled()
	d.write("shared/[ab].txt", "another file\n", 0o644)
	w.settled()
	must(os.Remove(d.path("shared/[ab].txt")))
	w.settled()
}

// Commands print the same as in a clean checkout if a source of the project is missing, or a program lost the mode that
// the configuration needs.
func TestConfigurationOverFiles(t *testing.T) {
	t.Parallel()
	w, d := newTrap(t, trapAssets)
	d.write("fixed.txt", "fixed\n", 0o644)
	w.c.append("fevalgraph.hcl", "solution \"fixed\" {\n  problem = problem.p\n  source = \"fixed.txt\"\n}\n")
	w.settled()
	addr := "command:p/fixed@local.host"
	says := func(code int, what string) {
		t.Helper()
		for _, args := range [][]string{{"explain", addr}, {"plan"}, {"plan", "--json"}, {"status"}, {"run"}} {
			text, exit := w.command(args...)
			if exit != code {
				t.Errorf("%s: %q ended with %d, want %d\n%s", what, args, exit, code, text)
			}
		}
	}
	must(os.Rename(d.path("fixed.txt"), d.path("gone.txt")))
	says(2, "the source is gone")
	must(os.Rename(d.path("gone.txt"), d.path("fixed.txt")))
	w.settled()
	w.replace("fevalgraph.hcl", trapAssets, "") // an asset could bring the program
	w.settled()
	must(os.Chmod(d.path("bench/check.sh"), 0o644))
	says(2, "the program cannot be run")
	must(os.Chmod(d.path("bench/check.sh"), 0o755))
	w.settled()
}

// replace replaces text of the configuration.
func (w *diffWorld) replace(name, old, by string) {
	w.t.Helper()
	d := diffTree(w.c.dir)
	content, err := os.ReadFile(d.path(name))
	if err != nil || !bytes.Contains(content, []byte(old)) {
		w.t.Fatalf("no %q in %s: %v", old, name, err)
	}
	d.write(name, strings.ReplaceAll(string(content), old, by), 0o644)
}

// during does something so long after a run began.
func (w *diffWorld) during(after time.Duration, change func()) {
	w.t.Helper()
	cmd := w.c.command("run")
	must(cmd.Start())
	time.Sleep(after)
	change()
	w.finished(cmd, cmd.Wait())
}

// The next run notices changes at any moment of a run: to a file that all cells share, and to a directory above the
// sources, which is replaced.
func TestChangedDuringRun(t *testing.T) {
	for name, change := range map[string]func(w *diffWorld, d diffTree, i int){
		"content": func(w *diffWorld, d diffTree, i int) {
			d.write("shared/words.txt", fmt.Sprintf("word%d\n", i%10), 0o644)
		},
		"time put back": func(w *diffWorld, d diffTree, i int) {
			info, err := os.Stat(d.path("shared/words.txt"))
			must(err)
			d.write("shared/words.txt", fmt.Sprintf("word%d\n", i%10), 0o644)
			must(os.Chtimes(d.path("shared/words.txt"), info.ModTime(), info.ModTime()))
		},
		"ln -sfn": func(w *diffWorld, d diffTree, i int) {
			to := fmt.Sprintf("v%d", 1+i%2)
			d.write(to+"/a.txt", fmt.Sprintf("%d\n", i), 0o644)
			must(os.Symlink(to, d.path("linked~")))
			must(os.Rename(d.path("linked~"), d.path("linked")))
		},
		"mv": func(w *diffWorld, d diffTree, i int) {
			must(os.CopyFS(d.path("next"), os.DirFS(d.path("shared"))))
			d.write("next/words.txt", fmt.Sprintf("word%d\n", i%10), 0o644)
			must(os.Rename(d.path("shared"), d.path("before")))
			must(os.Rename(d.path("next"), d.path("shared")))
			must(os.RemoveAll(d.path("before")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d := newTrap(t, trapAssets)
			w.settled()
			for i := range 5 {
				d.write("solutions/two.txt", fmt.Sprintf("two %d\n", i), 0o644) // so that something runs
				w.during(time.Duration(i*20)*time.Millisecond, func() { change(w, d, i) })
				w.check()
				w.wait()
				w.check()
			}
		})
	}
}

// A project that ran on one store, then on another, then on the first, is served
// the first one's answers, also where the work gives something else each time.
func TestStoresInTurn(t *testing.T) {
	t.Parallel()
	w, d := newTrap(t, trapAssets)
	d.write("bench/check.sh", "#!/bin/sh\nod -An -N3 -tu4 /dev/urandom\n", 0o755)
	first := w.c.place
	second := w.checkoutAt("none", "place-2").place
	var results [2]string
	for turn := range 6 {
		at := turn % 2
		w.c.place = []string{first, second}[at]
		text, _ := w.command("plan", "--json")
		var plan struct{ Stale int }
		if err := json.Unmarshal(text, &plan); err != nil {
			t.Fatal(err)
		}
		w.command("run")
		r, got := w.c.lastRun(), w.c.results()
		switch {
		case turn < 2:
			results[at] = got
		case got != results[at] || plan.Stale > 0 || len(r.executed) > 0:
			t.Errorf("turn %d: %d were stale, ran %q; the results are\n%s\nand were\n%s", turn, plan.Stale, r.executed, got, results[at])
		}
		w.wait()
	}
	if results[0] == results[1] {
		t.Error("the work gives the same each time")
	}
}

// Sources that are mounted one after the other at the same path are distinguished, although their stat results are
// equal.
func TestImagesInTurn(t *testing.T) {
	w, d := newTrap(t, trapAssets)
	images := twoImages(t, w.temp)
	loop, err := freeLoop() // the same one each time, or its number would distinguish them
	if err != nil {
		t.Skipf("NOT TESTED HERE: mounting an image takes Linux and root: %v", err)
	}
	for range 2 {
		for _, image := range images {
			if err := mountImage(image, loop, d.path("shared")); err != nil {
				t.Skipf("NOT TESTED HERE: mounting an image takes Linux and root: %v", err)
			}
			func() {
				defer func() { must(unmountImage(d.path("shared"))) }()
				w.settled()
			}()
		}
	}
}

// The record of any kind of run contains the results of all nodes that it decided.
func TestRecordsAreWhole(t *testing.T) {
	t.Parallel()
	w, d := newTrap(t, trapAssets)
	w.settled()
	const all = 3
	shown := map[string]string{} // by run
	for _, try := range []struct {
		cells  int
		change bool
		args   []string
	}{
		{cells: all}, {cells: all, change: true}, {cells: all, args: []string{"--json"}}, {cells: all, args: []string{"-v"}},
		{cells: 1, args: []string{"solution=one.txt"}}, {cells: all}, {cells: 1, change: true, args: []string{"solution=two.txt"}},
		{cells: all, args: []string{"--var", "flavor=b"}}, {cells: all}, {cells: all, args: []string{"--force", "kind=score"}},
		{cells: all, change: true, args: []string{"--policy", "any"}}, {cells: 1, args: []string{"--only", "solution=three.txt"}},
		{cells: 2, args: []string{"--not", "solution=three.txt"}}, {cells: all, change: true},
	} {
		if try.change {
			d.write("solutions/two.txt", fmt.Sprintf("two %d\n", len(shown)), 0o644)
		}
		w.command(append([]string{"run"}, try.args...)...)
		id := w.c.lastRun().start.Run
		text, exit := w.command("results", "--run", id, "--format", "json")
		var results struct {
			Run   string
			Cells []struct{ Checkpoints []any }
		}
		if err := json.Unmarshal(text, &results); err != nil || exit != 0 || results.Run != id || len(results.Cells) != try.cells {
			t.Errorf("run %q: results end with %d, %v, and have %d cells of run %s, want %d of %s", try.args, exit, err, len(results.Cells), results.Run, try.cells, id)
		}
		for _, cell := range results.Cells {
			if len(cell.Checkpoints) != 1 {
				t.Errorf("run %q: a cell has %d checkpoints", try.args, len(cell.Checkpoints))
			}
		}
		shown[id] = string(text)
		w.wait()
	}
	ids := []string{}
	for id, before := range shown {
		ids = append(ids, id)
		if text, _ := w.command("results", "--run", id, "--format", "json"); string(text) != before {
			t.Errorf("the results of run %s were\n%s\nand are\n%s", id, before, text)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) < 10 {
		t.Errorf("there are only the runs %q", ids)
	}
}

// Names with slashes give no two nodes one address: of two assets that would share
// one, each problem gets its own.
func TestAddressesApart(t *testing.T) {
	t.Parallel()
	w := newDiffWorld(t, 1, diffMachine{})
	d := diffTree(w.c.dir)
	d.write("fevalgraph.hcl", `
problem "a" {
  entry = "python kv.py"
  pytest { root = "tests" }
  checkpoint "b" {
    asset "c" { source = "first" }
  }
}
problem "other" {
  name  = "a/b"
  entry = "python kv.py"
  pytest { root = "tests" }
  asset "c" { source = "second" }
  checkpoint "b" {}
}
solution "s" {
  problem = problem.a
  source  = "solution"
}
solution "t" {
  problem = problem.other
  source  = "solution"
}
`, 0o644)
	d.write("first/c.txt", "right\n", 0o644)
	d.write("second/c.txt", "wrong\n", 0o644)
	d.write("tests/test_b.py", "# fake: test_c tests/assets/c/c.txt~right\n", 0o644)
	d.write("solution/kv.py", "\n", 0o644)
	verdicts := func() map[string]bool {
		t.Helper()
		w.command("run")
		text, _ := w.command("results", "--format", "json")
		var results struct {
			Cells []struct {
				Problem     string
				Checkpoints []struct{ Passed bool }
			}
		}
		if err := json.Unmarshal(text, &results); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		passed := map[string]bool{}
		for _, cell := range results.Cells {
			passed[cell.Problem] = cell.Checkpoints[0].Passed
		}
		return passed
	}
	if got := verdicts(); !got["a"] || got["a/b"] {
		t.Errorf("passed: %v", got)
	}
	d.write("second/c.txt", "right\n", 0o644)
	if got := verdicts(); !got["a"] || !got["a/b"] {
		t.Errorf("passed after the edit: %v", got)
	}
	for _, addr := range w.c.lastRun().executed {
		if !strings.Contains(addr, "a%2Fb/") {
			t.Errorf("%s ran after an edit of the other problem's asset", addr)
		}
	}
}

// Problems with one uv project have each its own files of it, if they ignore others.
func TestProjectsApart(t *testing.T) {
	t.Parallel()
	w := newDiffWorld(t, 1, diffMachine{})
	d := diffTree(w.c.dir)
	d.write("fevalgraph.hcl", `
problem "p" {
  for_each = { one = ["**/*.lock"], two = ["**/*.lock"], three = ["**/*.md"] }
  name     = each.key
  command {
    root       = "grade"
    ignore     = each.value
    directory  = each.key
    solution   = "answer.txt"
    uv_project = "../lib"
    argv       = ["python", "grade.py"]
  }
  asset "lib" {
    source = "lib"
    target = "lib"
  }
}
solution "s" {
  for_each = problem.p
  name     = "s"
  problem  = each.value
  source   = "answer.txt"
}
`, 0o644)
	d.write("grade/grade.py", "print(1)\n", 0o644)
	d.write("lib/pyproject.toml", "[project]\nname = \"lib\"\nversion = \"1\"\n", 0o644)
	d.write("answer.txt", "1\n", 0o644)
	text, exit := w.command("list", "nodes", "--json")
	for _, kind := range []string{`"workspace:uv/`, `"environment:`} {
		if n := bytes.Count(text, []byte(kind)); exit != 0 || n != 2 {
			t.Errorf("there are %d nodes %s, want 2; exit code %d\n%s", n, kind, exit, text)
		}
	}
}
