package examples_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func TestResearchCompiles(t *testing.T) {
	compiles(t, lang.Options{Inputs: lang.Inputs{Dir: "research"}}, "research.nodes")
}

// The reference is the grader's result on this machine; containers give the same.
func TestResearchRuns(t *testing.T) {
	dir := project(t, "research")
	var flags []string
	if os.Getenv(dockerVariable) != "" {
		flags = []string{"--var", "image=fevalgraph-test/python:latest"}
	}
	program(t, 1, append([]string{"run", "-C", dir}, flags...)...)
	results, err := report.Decode(strings.NewReader(program(t, 0, append([]string{"results", "-C", dir, "--format", "json"}, flags...)...)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"ruler/doubling": 10.763209393346379, "ruler/greedy": 68.75, "curve/mean": 0, "curve/nearest": 99.55302801686089}
	if n := 5 * (1 + len(flags)/2); len(results.Cells) != n {
		t.Errorf("%d cells, want %d", len(results.Cells), n)
	}
	for _, cell := range results.Cells {
		name := cell.Problem + "/" + cell.Solution
		score, scored := want[name]
		switch {
		case !scored && (cell.Status != verdict.Error || cell.Score != nil || !strings.HasSuffix(*cell.Message, "ValueError: no idea")):
			t.Errorf("%s on %s: %+v", name, cell.Backend, cell)
		case scored && (cell.Score == nil || *cell.Score != score):
			t.Errorf("%s on %s has the score %v, want %v", name, cell.Backend, cell.Score, score)
		}
	}
	if end := lastEvent(t, program(t, 1, append([]string{"run", "-C", dir, "--json"}, flags...)...)); end.Executed != 0 {
		t.Errorf("the second run ended with %+v", end)
	}
}

// A checkout like Frontier-CS's, with own problems: nested names, files that parents share, every setting of
// config.yaml, failed attempts, and errors that affect only their problem.
const researchCheckout = `
-- research/problems/solo/evaluator.py --
-- research/problems/solo/evaluate.sh --
cat ../../execution_env/solution_env/solution.py
-- research/problems/solo/reference.py --
8
-- research/problems/solo/resources/evaluate.py --
-- research/problems/family/common/lib.sh --
base=$(cat /work/research/family/common/base)
-- research/problems/family/common/base --
40
-- research/problems/family/deep/common/more --
2
-- research/problems/family/deep/one/config.yaml --
{"tag": "os", "runtime": {"timeout_seconds": 90, "docker": {"image": "some/image", "dind": true}}}
-- research/problems/family/deep/one/evaluate.sh --
#!/bin/sh
. ../../common/lib.sh
echo "[info] 7"
echo $((base + $(cat ../common/more) + $(cat made) + $(cat /work/execution_env/solution_env/solution.py))) 99 INFO
echo $((base + $(cat ../common/more) + $(cat made) + $(cat /work/execution_env/solution_env/solution.py))) 99 >&2
-- research/problems/family/deep/one/set_up_env.sh --
#!/bin/sh
echo 100 >made
-- research/problems/family/gpu/config.yaml --
runtime: { docker: { gpu: true }, resources: { accelerators: "L4:1", cpus: 8+ } }
-- research/problems/family/gpu/evaluate.sh --
echo 1
-- research/problems/family/broken/config.yaml --
runtime: {
-- research/problems/family/broken/evaluate.sh --
-- research/problems/family/nothing/evaluator.py --
-- research/problems/family/null/config.yaml --
runtime: null
dependencies: null
colour: blue
-- research/problems/family/null/evaluate.sh --
#!/bin/sh
echo nan
-- research/problems/other/evaluator.py --
-- research/solutions/solo/gpt5.1.py --
3
-- research/solutions/solo/gpt5.1_1.py --
4
-- research/solutions/family/deep/one/gpt5.1.py --
5
-- research/solutions/family/deep/one/grok4.FAILED --
{"error": "no answer", "model": "grok4"}
-- research/solutions/family/deep/one/both.py --
6
-- research/solutions/family/deep/one/both.FAILED --
{"error": "at first"}
-- research/solutions/family/gpu/gpt5.1.py --
-- research/solutions/family/broken/gpt5.1.py --
-- research/solutions/family/nothing/gpt5.1.py --
-- research/solutions/family/null/gpt5.1.py --
-- research/solutions/gone/gpt5.1.py --
`

func researchRoot(t *testing.T) string {
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(researchCheckout)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFrontierResearchLoads(t *testing.T) {
	root := researchRoot(t)
	cfg, found := load(lang.Options{Inputs: lang.Inputs{Dir: "frontier-research", Vars: []string{"root=" + root, `families=["solo","family"]`, "images=own"}}})
	if len(found) != 1 || found[0].Code != "bad-config" || found.HasErrors() || found[0].Detail != "colour is a setting that is not supported." || found[0].Range.Start.Line != 3 {
		t.Fatal(found)
	}
	got := map[string]*lang.Problem{}
	var names []string
	for _, p := range cfg.Problems {
		got[p.Name] = p
		names = append(names, p.Name)
	}
	slices.Sort(names)
	if want := []string{"family/broken", "family/deep/one", "family/gpu", "family/nothing", "family/null", "solo"}; !slices.Equal(names, want) {
		t.Fatalf("got the problems %v", names)
	}
	for _, name := range []string{"family/broken", "family/nothing"} {
		if len(got[name].Invalid) == 0 {
			t.Errorf("%s has no error", name)
		}
	}
	one := got["family/deep/one"]
	if c := one.Command; c.Timeout != 90*time.Second || c.Image != "some/image" || !c.Dind || c.GPU || c.Directory != "research/family/deep/one" || one.Tags[0] != "os" {
		t.Errorf("%+v", c)
	}
	var places []string
	for _, a := range one.Checkpoints[0].Assets {
		places = append(places, a.Target)
	}
	if want := []string{"research/family/common", "research/family/deep/common"}; !slices.Equal(places, want) {
		t.Errorf("shared files are at %v", places)
	}
	if c := got["family/null"].Command; c.Timeout != 30*time.Minute || c.GPU || c.Dind {
		t.Errorf("%+v", c)
	}
	if _, values := got["family/gpu"].Resources.Fields(); !slices.Equal(values, []string{"L4:1", "8+"}) {
		t.Errorf("family/gpu asks for %v", values)
	}
	if !got["family/gpu"].Command.GPU {
		t.Error("no GPU is requested")
	}
	var solutions []string
	for _, s := range cfg.Solutions {
		line := s.Problem.Name + "/" + s.Name
		if s.Failed != "" {
			line += " failed: " + s.Failed
		}
		solutions = append(solutions, line)
	}
	slices.Sort(solutions)
	want := []string{"family/broken/gpt5.1", "family/deep/one/both", "family/deep/one/gpt5.1", "family/deep/one/grok4 failed: no answer",
		"family/gpu/gpt5.1", "family/nothing/gpt5.1", "family/null/gpt5.1", "solo/gpt5.1", "solo/gpt5.1_1"}
	if !slices.Equal(solutions, want) {
		t.Errorf("got\n%s", strings.Join(solutions, "\n"))
	}
}

// On this machine, where /work is the workspace all the same.
func TestFrontierResearchRuns(t *testing.T) {
	root := researchRoot(t)
	for _, file := range os.Environ() {
		if name, _, _ := strings.Cut(file, "="); strings.HasPrefix(name, "FEVALGRAPH_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("COLUMNS", "200") // tables have all columns
	t.Setenv("FEVALGRAPH_CACHE_DIR", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), "frontier-research")
	if err := os.CopyFS(dir, os.DirFS("frontier-research")); err != nil {
		t.Fatal(err)
	}
	flags := []string{"-C", dir, "--var", "root=" + root, "--var", `families=["solo","family"]`, "problem=solo", "problem=family/deep/one", "problem=family/null"}
	program(t, 1, append([]string{"run"}, flags...)...)
	results, err := report.Decode(strings.NewReader(program(t, 0, "results", "-C", dir, "--format", "json")))
	if err != nil {
		t.Fatal(err)
	}
	// Another problem's error is shown, but has no effect.
	if said := program(t, 2, append([]string{"run", "problem=family/broken"}, flags[:6]...)...); !strings.Contains(said, "family/broken") {
		t.Errorf("the error of family/broken is not reported:\n%s", said)
	}
	if said := program(t, 0, append([]string{"validate", "--reference", "--var", `families=["solo"]`}, flags[:4]...)...); !strings.HasSuffix(said, "1 of 1 references have the expected result\n") {
		t.Errorf("validate --reference prints\n%s", said)
	}
	want := map[string]string{
		"family/deep/one/both": "success 148", "family/deep/one/gpt5.1": "success 147", "family/deep/one/grok4": "error 0",
		"family/null/gpt5.1": "success", "solo/gpt5.1": "success 3", "solo/gpt5.1_1": "success 4",
	}
	for _, cell := range results.Cells {
		name, got := cell.Problem+"/"+cell.Solution, string(cell.Status)
		if cell.Score != nil {
			got += " " + strconv.FormatFloat(*cell.Score, 'f', -1, 64)
		}
		if got != want[name] {
			message := ""
			if cell.Message != nil {
				message = *cell.Message
			}
			t.Errorf("%s: %s, want %s (%s)", name, got, want[name], message)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("none of %v", want)
	}
	if end := lastEvent(t, program(t, 1, append([]string{"run", "--json"}, flags...)...)); end.Executed != 0 {
		t.Errorf("the second run ended with %+v", end)
	}
}
