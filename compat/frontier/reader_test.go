package frontier

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
)

const configuration = `
problem "all" {
  for_each = merge(frontier_problems("algorithmic/problems"), frontier_problems("research/problems"))
  name     = each.key
  invalid  = "report"
  frontier { path = each.value }
}
`

// load reads a configuration next to files, including many empty testdata/N.in and N.ans.
func load(t *testing.T, hcl string, files map[string]string) (*lang.Config, diag.List) {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("fevalgraph.hcl", hcl)
	write("algorithmic/judge/include/testlib.h", "")
	write("research/problems/none/readme", "")
	for name, text := range files {
		write(name, text)
	}
	return lang.Load(plan.WithBenchmarks(lang.Options{Inputs: lang.Inputs{Dir: root}, Extensions: lang.Extensions{Kinds: []lang.BackendKind{{Schema: lang.BlockSchema{Name: "gojudge"}, NoCommands: "It judges"}}}}, []plan.Benchmark{Benchmark()}))
}

// algorithmicFiles returns the files of a problem with data for three cases.
func algorithmicFiles(config string) map[string]string {
	files := map[string]string{"algorithmic/problems/7/config.yaml": config, "algorithmic/problems/7/chk.cc": "", "algorithmic/problems/7/interactor.cc": "", "algorithmic/problems/7/statement.txt": ""}
	for _, name := range []string{"1.in", "1.ans", "2.in", "2.ans", "3.in", "3.ans", "in1.txt", "out1.txt"} {
		files["algorithmic/problems/7/testdata/"+name] = ""
	}
	return files
}

func TestAlgorithmicCases(t *testing.T) {
	const mib = 1 << 20
	type limits struct {
		time   time.Duration
		memory int64
	}
	for _, test := range []struct {
		name, config string
		mode         string
		files        []string // input=output
		limits       []limits
	}{
		{"numbered over subtasks", "subtasks: [{n_cases: 2}, {n_cases: 1}]", lang.ModeDefault, []string{"1.in=1.ans", "2.in=2.ans", "3.in=3.ans"},
			[]limits{{time.Second, 256 * mib}, {time.Second, 256 * mib}, {time.Second, 256 * mib}}},
		{"named", "input_prefix: in\ninput_suffix: .txt\noutput_prefix: out\noutput_suffix: .txt\nsubtasks: [{n_cases: 1}]", lang.ModeDefault, []string{"in1.txt=out1.txt"},
			[]limits{{time.Second, 256 * mib}}},
		{"answers called out", "subtasks: [{cases: [{input: 1.in, output: 1.out}]}]", lang.ModeDefault, []string{"1.in=1.ans"}, []limits{{time.Second, 256 * mib}}},
		{"interactive", "type: interactive\nsubtasks: [{n_cases: 1}]", lang.ModeInteractive, []string{"1.in=1.ans"}, []limits{{time.Second, 256 * mib}}},
		{"units", "time: 2s\nmemory: 64m\nsubtasks: [{n_cases: 1}, {n_cases: 1, time_limit: 500ms, memory_limit: 1G}, {cases: [{input: 3.in, output: 3.ans, time: 3, memory: 1048576}], time: '4', memory: 2k}]",
			lang.ModeDefault, []string{"1.in=1.ans", "2.in=2.ans", "3.in=3.ans"},
			[]limits{{2 * time.Second, 64 * mib}, {500 * time.Millisecond, 1024 * mib}, {3 * time.Nanosecond, mib}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, diags := load(t, configuration, algorithmicFiles(test.config))
			if diags.HasErrors() || len(cfg.Problems) != 1 || cfg.Problems[0].Judge == nil {
				t.Fatalf("%v, %v", cfg.Problems, diags)
			}
			judge := cfg.Problems[0].Judge
			if judge.Mode != test.mode {
				t.Errorf("mode is %s", judge.Mode)
			}
			var files []string
			var got []limits
			for _, s := range judge.Subtasks {
				for _, c := range s.Cases {
					files = append(files, filepath.Base(c.Input)+"="+filepath.Base(c.Output))
					got = append(got, limits{c.Time, c.Memory})
				}
			}
			if !slices.Equal(files, test.files) {
				t.Errorf("cases are %q, want %q", files, test.files)
			}
			if !slices.Equal(got, test.limits) {
				t.Errorf("limits are %v, want %v", got, test.limits)
			}
		})
	}
}

// An unusable config.yaml is an error of its problem, with its location.
func TestAlgorithmicMistakes(t *testing.T) {
	for config, want := range map[string]string{
		"type: batch\nsubtasks: [{n_cases: 1}]":        "the type batch cannot be judged",
		"time: 1s":                                     "it needs a list of subtasks",
		"subtasks: []":                                 "no subtasks",
		"subtasks: [{}]":                               "it needs a list of subtasks, each with n_cases or cases",
		"subtasks: [{n_cases: 1, time: soon}]":         "the time soon cannot be read",
		"subtasks: [{n_cases: 1, memory_limit: lots}]": "the memory lots cannot be read",
	} {
		hcl := strings.Replace(configuration, "invalid  = \"report\"", "", 1)
		_, diags := load(t, hcl, algorithmicFiles(config))
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) || !strings.Contains(diags.Error(), "config.yaml") {
			t.Errorf("%q: %v, want %q", config, diags, want)
		}
	}
}

// Problems whose test data is not all there are left out.
func TestFindProblems(t *testing.T) {
	files := algorithmicFiles("subtasks: [{n_cases: 4}]")
	files["research/problems/a/b/evaluate.sh"], files["research/problems/a/b/evaluator.py"] = "", ""
	files["research/problems/a/common/evaluate.sh"] = ""
	files["research/problems/.git/evaluate.sh"] = ""
	cfg, diags := load(t, configuration, files)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var names []string
	for _, p := range cfg.Problems {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"a/b"}) {
		t.Errorf("found %q", names)
	}
}

func TestResearchProblem(t *testing.T) {
	cfg, diags := load(t, configuration, map[string]string{
		"algorithmic/problems/none/readme":    "",
		"research/problems/a/b/evaluate.sh":   "",
		"research/problems/a/b/readme":        "",
		"research/problems/a/b/reference.py":  "",
		"research/problems/a/common/data.txt": "",
		"research/problems/a/b/config.yaml":   "tag: os\nzeta: 1\nalpha: 2\nruntime:\n  timeout_seconds: 90\n  requires_gpu: true\n  wish: 1\n  resources: {cpus: 8+}\n  docker: {image: x, dind: true}\n",
	})
	if diags.HasErrors() || len(cfg.Problems) != 1 || cfg.Problems[0].Command == nil {
		t.Fatalf("%v", diags)
	}
	p := cfg.Problems[0]
	c := p.Command
	if p.Name != "a/b" || !slices.Equal(p.Tags, []string{"os"}) || c.Directory != "research/a/b" || c.Timeout != 90*time.Second || !c.GPU || !c.Dind {
		t.Errorf("the problem is %+v, its command %+v", p, c)
	}
	if a := p.Checkpoints[0].Assets; len(a) != 1 || a[0].Target != "research/a/common" {
		t.Errorf("assets are %+v", a)
	}
	if r := p.Resources; r.Accelerators != "L4:1" || r.CPUs != "8+" {
		t.Errorf("resources are %+v", r)
	}
	var unheeded []string
	for _, d := range diags {
		name, _, _ := strings.Cut(d.Detail, " ")
		unheeded = append(unheeded, name)
	}
	if !slices.Equal(unheeded, []string{"zeta", "alpha", "runtime.wish"}) {
		t.Errorf("settings without effect are %q", unheeded)
	}
}

// A file for a missing answer counts only without another file.
func TestFindSolutions(t *testing.T) {
	files := algorithmicFiles("subtasks: [{n_cases: 1}]")
	for _, name := range []string{"7/m.cpp", "7/m.FAILED", "7/m_1.FAILED", "7/deep/n.py", "7/notes.md"} {
		files["solutions/"+name] = ""
	}
	cfg, diags := load(t, configuration+`
backend "gojudge" "box" {}
solution "model" {
  for_each = frontier_solutions("solutions")
  problem  = problem.all["7"]
  frontier { path = each.value }
}
`, files)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var names []string
	for _, s := range cfg.Solutions {
		names = append(names, s.Name+" "+s.Failed)
	}
	if !slices.Equal(names, []string{"n ", "m ", "m_1 generation failed: no reason is given"}) {
		t.Errorf("solutions are %q", names)
	}
}
