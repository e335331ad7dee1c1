//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// diffTree is the directory of a project, without files of runs.
type diffTree string

func (d diffTree) path(name string) string { return filepath.Join(string(d), name) }

// leftByRuns reports whether a name at the top does not belong to the project.
func leftByRuns(name string) bool { return name == ".fevalgraph" || name == "out" || name == ".git" }

// walk visits everything in lexical order.
func (d diffTree) walk(visit func(name string, e fs.DirEntry) error) error {
	return filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(string(d), path)
		if err != nil || name == "." {
			return err
		}
		if leftByRuns(name) {
			return filepath.SkipDir
		}
		return visit(name, e)
	})
}

// files returns the regular files, sorted. It returns none for a missing directory.
func (d diffTree) files() []string {
	var names []string
	_ = d.walk(func(name string, e fs.DirEntry) error {
		if e.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// digest covers names, contents, modes and targets of links.
func (d diffTree) digest(t *testing.T) (sum [sha256.Size]byte) {
	t.Helper()
	h := sha256.New()
	err := d.walk(func(name string, e fs.DirEntry) error {
		info, err := e.Info()
		if err != nil {
			return err
		}
		var content []byte
		switch {
		case e.Type().IsRegular():
			content, err = os.ReadFile(d.path(name))
		case e.Type()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(d.path(name))
			content = []byte(target)
		}
		fmt.Fprintf(h, "%q %v %q\n", name, info.Mode(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// copyTo copies everything with modes and links, but no times.
func (d diffTree) copyTo(t *testing.T, to string) {
	t.Helper()
	err := d.walk(func(name string, e fs.DirEntry) error {
		info, err := e.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case e.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(d.path(name))
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		content, err := os.ReadFile(d.path(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o600); err != nil {
			return err
		}
		return os.Chmod(target, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a file, with the directories above it.
func (d diffTree) write(name, content string, mode fs.FileMode) {
	path := d.path(name)
	must(os.MkdirAll(filepath.Dir(path), 0o755))
	must(os.WriteFile(path, []byte(content), mode))
}

// must is for the test's own steps, which fail only with the machine.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// The score of a command problem describes its workspace: every name, mode and content, and the variable.
const diffCheck = `n=$({ find . -type f -perm -100 -exec echo x {} + ; find . -type d; find . -type l -exec ls -d {} + ; find . -type f -exec cksum {} + ; echo "$FLAVOR $SEEN"; } | sort | cksum)
echo $(( ${n%% *} % 101 ))
`

// generateProject makes command problems from files and, mostly, a pytest problem
// with checkpoints, solutions found by filesets, suites with matrices, and exports.
func generateProject(rng *rand.Rand, d diffTree, pytest bool) {
	var hcl strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&hcl, format+"\n", args...) }
	some := func(n int) bool { return rng.IntN(n) > 0 }
	add(`variable "flavor" { default = "a" }
variable "least" { default = %d }
variable "repeat" { default = %d }`, rng.IntN(101), 1+rng.IntN(2))
	add(`problem "cmd" {
  for_each = toset([for f in fileset("bench", "*/check.sh") : dirname(f)])
  name     = each.key
  locals { seen = join(" ", fileset("linked", "*.txt")) }
  command {
    root     = "bench/${each.key}"
    solution = "answer"
    argv     = ["/bin/sh", "check.sh"]
    env      = { FLAVOR = var.flavor, SEEN = local.seen }
  }`)
	if some(3) {
		add(`  asset "shared" { source = "shared" }`)
	}
	if some(3) {
		add(`  asset "globbed" { source = "linked/*.txt" }`)
	}
	add(`  pass { when = self.score >= var.least }
}
solution "cmd" {
  for_each = toset([for f in fileset("solutions", "*/*/main.txt") : dirname(f)])
  name     = basename(each.key)
  problem  = problem.cmd[dirname(each.key)]
  source   = "solutions/${each.key}"
}
backend "local" "host" {}`)
	if !some(3) {
		add(`backend "local" "other" { env = { FLAVOR = "other" } }`)
	}
	add(`suite "all" { repeat = var.repeat }
suite "some" {
  matrix { solution = [solution.cmd] }
  exclude { when = endswith(cell.solution.name, "1") }
}
export "json" "all" {
  from = suite.all
  path = "out/all.json"
}
export "csv" "some" {
  from = suite.some
  path = "out/some.csv"
}`)
	if some(2) {
		add(`export "frontier" "some" {
  from = suite.some
  path = "out/frontier"
}`)
	}
	if some(2) || pytest {
		addPytest(rng, d, add)
	}
	d.write("fevalgraph.hcl", hcl.String(), 0o644)
	d.write("x.auto.vars.hcl", "", 0o644)
	d.write("shared/words.txt", "words\n", 0o644)
	d.write("shared/deep/more.txt", "more\n", 0o644)
	d.write("behind/one.txt", "one\n", 0o644)
	must(os.Symlink("behind", d.path("linked")))
	for p := range 1 + rng.IntN(2) {
		d.write(fmt.Sprintf("bench/p%d/check.sh", p), diffCheck, 0o644)
		d.write(fmt.Sprintf("bench/p%d/data.txt", p), "data\n", 0o644)
		for s := range 1 + rng.IntN(2) {
			d.write(fmt.Sprintf("solutions/p%d/s%d/main.txt", p, s), fmt.Sprintf("solution %d\n", s), 0o644)
		}
	}
	ageTimes(d)
}

// addPytest adds a pytest problem, which the stand-in for uv judges.
func addPytest(rng *rand.Rand, d diffTree, add func(format string, args ...any)) {
	add(`problem "kv" {
  entry = "python kv.py"
  pytest { root = "tests" }
  marker "slow" {
    group       = "functionality"
    description = "takes long"
  }
  asset "shared" { source = "shared" }
  checkpoint "one" {}
  checkpoint "two" {}
  pass { policy = "core-cases" }
}
solution "kv" {
  for_each = toset([for f in fileset("kv", "*/one/kv.py") : dirname(dirname(f))])
  name     = each.key
  problem  = problem.kv
  source   = "kv/${each.key}/${checkpoint.name}"
  missing  = "skip"
}`)
	d.write("tests/test_one.py", "# fake: test_put kv.py~def.put\n# fake: test_get kv.py~def.get\n", 0o644)
	d.write("tests/test_two.py", "# fake: test_slow kv.py~def.put slow\n# fake: test_pop kv.py~def.pop\n", 0o644)
	d.write("kv/good/one/kv.py", "def put\ndef get\n", 0o644)
	if rng.IntN(2) == 0 {
		d.write("kv/good/two/kv.py", "def put\ndef get\ndef pop\n", 0o644)
	}
	if rng.IntN(2) == 0 {
		d.write("kv/late/one/kv.py", "def get\n", 0o644)
	}
}

// ageTimes makes what was just written look old.
func ageTimes(d diffTree) {
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, name := range d.files() {
		must(os.Chtimes(d.path(name), then, then))
	}
}
