//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	cmpdiff "github.com/google/go-cmp/cmp"
)

// diffShown holds the checkpoints of a document, by their names: each as an object.
type diffShown map[string]map[string]any

// shownBy returns the checkpoints of results, or of a file that has some.
func (w *diffWorld) shownBy(what string, text []byte) diffShown {
	w.t.Helper()
	var doc struct {
		Cells []struct {
			Problem, Solution, Backend string
			Repeat                     int
			Checkpoints                []map[string]any
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		w.t.Fatalf("step %d: %s: %v\n%s", w.step, what, err, text)
	}
	shown := diffShown{}
	for _, cell := range doc.Cells {
		for _, c := range cell.Checkpoints {
			shown[fmt.Sprint(cell.Problem, "/", c["name"], "/", cell.Solution, "@", cell.Backend, "#", cell.Repeat)] = c
		}
	}
	return shown
}

// statusRows returns the rows of status.
func (w *diffWorld) statusRows(text []byte) diffShown {
	w.t.Helper()
	var doc struct{ Rows []map[string]any }
	if err := json.Unmarshal(text, &doc); err != nil {
		w.t.Fatalf("step %d: status: %v\n%s", w.step, err, text)
	}
	shown := diffShown{}
	for _, row := range doc.Rows {
		delete(row, "run")
		name := fmt.Sprint(row["problem"], "/", row["checkpoint"], "/", row["solution"], "@", row["backend"])
		for shown[name] != nil { // repeats are in order
			name += "'"
		}
		shown[name] = row
	}
	return shown
}

// presents fails unless the output before a run equals that of a clean run, or marks it as stale.
func (w *diffWorld) presents(want *diffOutcome) {
	w.t.Helper()
	if want.message != "" || diffLatest(w.c) == "" {
		return
	}
	text, exit := w.command("results", "--format", "json")
	var shown diffShown
	if exit == 0 { // a disturbance damages a record
		shown = w.shownBy("results", text)
		w.holds("results", shown, w.shownBy("clean results", []byte(want.results)), "state", nil)
	}
	text, _ = w.command("status", "--json")
	rows := w.statusRows(text)
	w.holds("status", rows, w.statusRows([]byte(want.status)), "state", "fresh")
	w.formats(shown, rows)
	diff := w.c.command("diff", "latest", "now", "--json")
	text, exit = w.finished(diff, diff.Run())
	if exit == 2 && strings.Contains(output(diff), "ended without results") { // the only recorded run was killed
		return
	}
	var difference struct {
		Changes []struct {
			Kind, Problem, Checkpoint, Solution, Backend, After string
			Repeat                                              int
		}
	}
	if err := json.Unmarshal(text, &difference); err != nil {
		w.t.Fatalf("step %d: diff ended with %d: %v\n%s", w.step, exit, err, output(diff))
	}
	for _, c := range difference.Changes {
		row := rows[fmt.Sprint(c.Problem, "/", c.Checkpoint, "/", c.Solution, "@", c.Backend)+strings.Repeat("'", max(0, c.Repeat-1))]
		if row == nil || c.Kind == "gone" {
			continue
		}
		if fresh := row["state"] == "fresh"; fresh == strings.HasPrefix(c.After, "to be") {
			w.t.Fatalf("step %d: diff reports %v as now %q, status: %v", w.step, c, c.After, row)
		}
	}
	if w.rng.IntN(4) > 0 {
		return
	}
	// A run of a part exports valid results of the rest.
	if _, exit = w.command("run", "problem=p0"); exit < 2 && !w.lost {
		if content, err := os.ReadFile(filepath.Join(w.c.dir, "out", "all.json")); err == nil {
			w.holds("the export of a part", w.shownBy("export", content), w.shownBy("clean results", []byte(want.results)), "state", nil)
		}
	}
}

// diffCounts matches the numbers of tests in JUnit, diffPassed the number of passed checkpoints in comments of GitHub.
var (
	diffCounts = regexp.MustCompile(`<testsuites name="fevalgraph" tests="(\d+)" failures="(\d+)" errors="(\d+)" skipped="(\d+)"`)
	diffPassed = regexp.MustCompile(`(?m)^## fevalgraph:.* (\d+) passed`)
)

// formats fails unless results have every checkpoint of status, also never-judged ones, and other formats count the
// same valid passes as JSON.
func (w *diffWorld) formats(shown, rows diffShown) {
	w.t.Helper()
	if shown == nil {
		return
	}
	if len(shown) != len(rows) {
		w.t.Fatalf("step %d: results have %d checkpoints, status %d", w.step, len(shown), len(rows))
	}
	valid := 0
	for _, c := range shown {
		if c["state"] == nil && c["passed"] == true {
			valid++
		}
	}
	passed := 0
	if w.rng.IntN(2) == 0 {
		text, _ := w.command("results", "--format", "github")
		if found := diffPassed.FindSubmatch(text); found != nil { // a headline names no zeros
			passed, _ = strconv.Atoi(string(found[1]))
		}
	} else {
		text, _ := w.command("results", "--format", "junit")
		found := diffCounts.FindSubmatch(text)
		if found == nil {
			w.t.Fatalf("step %d: JUnit begins with\n%.500s", w.step, text)
		}
		for i, count := range found[1:] {
			n, _ := strconv.Atoi(string(count))
			if i > 0 {
				n = -n
			}
			passed += n
		}
	}
	if passed != valid {
		w.t.Fatalf("step %d: %d checkpoints passed in another format; in JSON, %d valid ones", w.step, passed, valid)
	}
}

// holds fails unless each shown result is marked as stale or equals that of a clean run.
func (w *diffWorld) holds(what string, shown, clean diffShown, state string, fresh any) {
	w.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		got := shown[name]
		if got[state] != fresh {
			continue
		}
		want, known := clean[name]
		if diff := cmpdiff.Diff(timeless(want), timeless(got)); !known || diff != "" {
			w.t.Fatalf("step %d: %s does not mark %s as stale, but its verdict differs from a clean run's (-clean +shown):\n%s", w.step, what, name, diff)
		}
	}
}

// diffBranches is the number of earlier project states to keep for going back.
const diffBranches = 4

// keepBranch keeps the project as it is.
func (w *diffWorld) keepBranch() {
	dir := filepath.Join(w.temp, fmt.Sprintf("branch-%d", w.rng.IntN(diffBranches)))
	must(os.RemoveAll(dir))
	must(os.MkdirAll(dir, 0o755))
	diffTree(w.c.dir).copyTo(w.t, dir)
}

// diffSwitch puts the project back into a state that it had, as an undo does, or a switch of
// branches.
func diffSwitch(w *diffWorld) string {
	all, _ := filepath.Glob(filepath.Join(w.temp, "branch-*"))
	if len(all) == 0 {
		return "no branch to switch to"
	}
	from := all[w.rng.IntN(len(all))]
	entries, err := os.ReadDir(w.c.dir)
	must(err)
	for _, e := range entries {
		if !leftByRuns(e.Name()) {
			must(os.RemoveAll(filepath.Join(w.c.dir, e.Name())))
		}
	}
	diffTree(from).copyTo(w.t, w.c.dir)
	return "switch to " + filepath.Base(from)
}

// diffBreak makes a run break, by hiding its programs.
func diffBreak(w *diffWorld) string {
	what := ""
	if w.rng.IntN(2) == 0 {
		what = editProject(w.rng, diffTree(w.c.dir)) + "; "
	}
	cmd := w.c.command("run")
	program := cmd.Path
	if !filepath.IsAbs(program) {
		w.t.Fatalf("%s: invalid path", program)
	}
	cmd.Env = append(cmd.Env, "PATH=/usr/bin:/bin")
	w.finished(cmd, cmd.Run())
	return what + "run without uv"
}

// diffPack packs a run, or unpacks what was packed.
func diffPack(w *diffWorld) string {
	pack := filepath.Join(w.temp, "kept.pack")
	if _, err := os.Stat(pack); err == nil && w.rng.IntN(2) == 0 {
		w.command("cache", "unpack", pack)
		return "unpack"
	}
	_ = os.Remove(pack)
	w.command("cache", "pack", "-o", pack, "--run", "latest")
	return "pack"
}
