package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
)

// judgeVariable is the path of a go-judge; see backend/gojudge.
const judgeVariable = "FEVALGRAPH_TEST_GOJUDGE"

func TestJudgeCompiles(t *testing.T) {
	cfg := compiles(t, lang.Options{Inputs: lang.Inputs{Dir: "judge"}}, "judge.nodes")
	if len(cfg.Problems) != 2 || len(cfg.Problems[0].References) != 1 || cfg.Problems[1].Judge.Mode != lang.ModeInteractive {
		t.Errorf("the problems are %+v", cfg.Problems)
	}
}

// judgeProject returns a copy of the example, with go-judge in PATH.
func judgeProject(t *testing.T) string {
	t.Helper()
	goJudge(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("judge")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// goJudge brings go-judge into PATH, and takes a store of the test's own.
func goJudge(t *testing.T) {
	t.Helper()
	binary := os.Getenv(judgeVariable)
	if binary == "" {
		t.Skip("needs go-judge; make test has one")
	}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "FEVALGRAPH_") && !strings.HasPrefix(name, "FEVALGRAPH_TEST_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("PATH", filepath.Dir(binary)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("COLUMNS", "200") // tables have all columns
	t.Setenv("FEVALGRAPH_CACHE_DIR", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
}

// judgeScores are the expected results of solutions: the score, the unbounded score, and the verdict on each case.
var judgeScores = []string{
	"1/careful 96.86573333333334 96.86573333333334 AC points points",
	"1/hasty 87.4042 87.4042 AC points points",
	"1/script 33.47776666666667 33.47776666666667 points points points",
	"2/careful 93.33335000000001 107.61885 AC points",
	"2/hasty 0 0 points WA",
	"2/script 100 130.238 AC AC",
}

// Nodes that run after an edit: an identical compiled program stops it.
func TestJudgeRuns(t *testing.T) {
	dir := judgeProject(t)
	if end := lastEvent(t, program(t, 0, "run", "-C", dir, "--json")); end.Executed == 0 || end.Executed+end.Cached != end.Nodes {
		t.Errorf("the first run ended with %+v", end)
	}
	if got := judgeSummary(t, dir); !slices.Equal(got, judgeScores) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(judgeScores, "\n"))
	}
	edit := func(name, old, new string) {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), old) {
			t.Fatalf("%s does not have %q", name, old)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kinds := func() map[string]int {
		count := map[string]int{}
		for _, addr := range executed(t, program(t, 0, "run", "-C", dir, "--json")) {
			kind, _, _ := strings.Cut(addr, ":")
			count[kind]++
		}
		return count
	}
	want := func(what string, want map[string]int) {
		got := kinds()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: executed %v, want %v", what, got, want)
		}
	}
	want("unchanged", map[string]int{})
	edit("problems/packing/checker.cc", "// Checks a packing", "// It checks a packing")
	want("a comment in the checker", map[string]int{"checker": 1})
	edit("solutions/hasty/packing.cpp", "// Closes a bin", "// It closes a bin")
	want("a comment in a solution", map[string]int{"compile": 1})
	edit("problems/packing/checker.cc", " known. Ratio", " known, Ratio")
	want("the checker", map[string]int{"checker": 1, "check": 9, "score": 3})
	edit("fevalgraph.hcl", `time    = "1s"`, `time    = "3s"`)
	want("a time limit", map[string]int{"run": 9, "score": 3})
	if got := judgeSummary(t, dir); !slices.Equal(got, judgeScores) {
		t.Errorf("after edits that change no score, got\n%s", strings.Join(got, "\n"))
	}
}

func judgeSummary(t *testing.T, dir string) []string {
	t.Helper()
	results, err := report.Decode(strings.NewReader(program(t, 0, "results", "-C", dir, "--format", "json")))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, cell := range results.Cells {
		line := cell.Problem + "/" + cell.Solution
		for _, score := range []*float64{cell.Score, cell.ScoreUnbounded} {
			if score == nil {
				line += " -"
			} else {
				line += fmt.Sprint(" ", *score)
			}
		}
		for _, one := range cell.Checkpoints[0].Tests {
			line += " " + one.Verdict
		}
		lines = append(lines, line)
	}
	return lines
}

// Judges one solution outside the configuration with one command.
func TestJudgeEval(t *testing.T) {
	dir := judgeProject(t)
	out := program(t, 0, "eval", "1", filepath.Join(dir, "solutions/hasty/packing.cpp"), "-C", dir)
	for _, want := range []string{"SCORE", "UNBOUNDED", "87.4042"} {
		if !strings.Contains(out, want) {
			t.Errorf("eval does not print %q:\n%s", want, out)
		}
	}
}

// References of problems are judged, and must have the stated results.
func TestJudgeReferences(t *testing.T) {
	dir := judgeProject(t)
	if out := program(t, 0, "validate", "--reference", "-C", dir); !strings.Contains(out, "2 of 2 references have the expected result") {
		t.Error(out)
	}
	if out := program(t, 0, "validate", "--reference", "--repeat", "2", "-C", dir); !strings.Contains(out, "in each of 2 repeats; 0 flaky") {
		t.Error(out)
	}
	path := filepath.Join(dir, "fevalgraph.hcl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), "problems/packing/reference.cpp", "solutions/hasty/packing.cpp", 1))
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out := program(t, 1, "validate", "--reference", "--json", "-C", dir)
	for _, want := range []string{`"valid": false`, `"wanted": 100`, `"score": 87.4042`, `"reached": false`, `"reached": true`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}
