package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fevalgraph/fevalgraph/lang"
)

// frontier writes the checkout of testdata and returns its directory. Like a real one, the configuration of problem 1
// begins with a byte order mark.
func frontier(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "frontier.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range archive.Files {
		if f.Name == "algorithmic/problems/1/config.yaml" {
			archive.Files[i].Data = append([]byte("\uFEFF"), f.Data...)
		}
	}
	dir := t.TempDir()
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// judgeable returns a checkout of the problems that can be judged, and of one without all of its
// test data.
func judgeable(t *testing.T) string {
	t.Helper()
	root := frontier(t)
	if err := os.RemoveAll(filepath.Join(root, "algorithmic", "problems", "5")); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestFrontierCompiles(t *testing.T) {
	cfg := compiles(t, lang.Options{Inputs: lang.Inputs{Dir: "frontier-algorithmic", Vars: []string{"root=" + judgeable(t)}}}, "frontier.nodes")
	var got []string
	for _, p := range cfg.Problems {
		if len(p.Invalid) > 0 {
			t.Fatal(p.Invalid)
		}
		j := p.Judge
		line := fmt.Sprintf("%s %s %s, %s", p.Name, j.Mode, filepath.Base(j.Checker), j.Compat)
		if j.Filename != "" {
			line += ", as " + j.Filename
		}
		for _, s := range j.Subtasks {
			line += ";"
			for _, c := range s.Cases {
				line += fmt.Sprintf(" %s->%s %v %v %d", filepath.Base(c.Input), filepath.Base(c.Output), c.Time, c.Clock, c.Memory)
			}
		}
		got = append(got, line)
	}
	for _, s := range cfg.Solutions {
		line := s.Problem.Name + "/" + s.Name
		for _, l := range s.Labels {
			line += " " + l.Name + "=" + l.Value
		}
		if s.Failed != "" {
			line += ": " + s.Failed
		}
		got = append(got, line)
	}
	if r := cfg.Problems[0].References; len(r) != 1 || filepath.Base(r[0].Checkpoints[0].Source) != "reference.cpp" || len(cfg.Problems[1].References) > 0 {
		t.Errorf("the references are %+v and %+v", r, cfg.Problems[1].References)
	}
	want := []string{
		"1 default chk.cc, safe, as std.cc; 1.in->1.ans 1s 2s 134217728; 2.in->2.ans 1s 2s 134217728 3.in->3.ans 1s 2s 134217728",
		"2 interactive interactor.cc, safe; 1.in->1.ans 750ms 1.5s 67108864",
		"3 default check.cpp, safe; small.txt->small.ans 250ms 500ms 67108864 large.txt->large.txt 3s 6s 1073741824",
		"1/alpha model=alpha variant=0",
		"1/alpha_1 model=alpha variant=1",
		"1/beta model=beta variant=0: generation failed: rate limit",
		"1/beta_2 model=beta variant=2: generation failed: no reason is given",
		"2/alpha model=alpha variant=0",
		"2/some_model.1_3 model=some_model.1 variant=3",
		"3/alpha model=alpha variant=0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A problem that cannot be judged is a separate error, with its location.
func TestFrontierMistakes(t *testing.T) {
	root := frontier(t)
	for name, config := range map[string]string{
		"6": "time: 2m\nsubtasks:\n  - n_cases: 0\n",
		"7": "subtasks:\n  - n_cases: 0\n    memory: 64mb\n",
		"8": "subtasks: []\n",
		"9": "type: default\n",
	} {
		dir := filepath.Join(root, "algorithmic", "problems", name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "fevalgraph.hcl"), `variable "root" { type = string }
problem "all" {
  for_each = toset([for c in fileset("${var.root}/algorithmic/problems", "*/config.yaml") : dirname(c)])
  invalid  = "report"
  frontier { path = "${var.root}/algorithmic/problems/${each.key}" }
}
`)
	cfg, found := load(lang.Options{Inputs: lang.Inputs{Dir: dir, Vars: []string{"root=" + root}}})
	if cfg == nil {
		t.Fatal(found)
	}
	var got []string
	for _, p := range cfg.Problems {
		for _, d := range p.Invalid {
			got = append(got, fmt.Sprintf("%s:%d: %s", p.Name, d.Range.Start.Line, d.Detail))
		}
	}
	want := []string{
		"4:2: testdata lacks the files 2.in.",
		"5:1: the type leetcode cannot be judged.",
		"6:1: the time 2m cannot be read; write such as 2s or 500ms.",
		"7:3: the memory 64mb cannot be read; write such as 256m or 1g.",
		"8:1: no subtasks, so nothing can be judged.",
		"9:1: it needs a list of subtasks, each with n_cases or cases.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFrontierRuns(t *testing.T) {
	goJudge(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("frontier-algorithmic")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ compat, full, three string }{
		{"safe", "AC AC AC", "3/alpha 50 50 AC RE"},
		{"frontier", "points points points", "3/alpha 75 75 AC RE"}, // its own statement
	} {
		run := []string{"run", "-C", dir, "--json", "--var", "root=" + judgeable(t), "--var", "compat=" + test.compat}
		program(t, 1, run...) // one does not compile, two were never made
		want := []string{
			"1/alpha 49.333333333333336 49.333333333333336 points points points",
			"1/alpha_1 100 191.66666666666669 " + test.full,
			"1/beta 0 0",
			"1/beta_2 0 0",
			"2/alpha 75 125 points",
			"2/some_model.1_3 - -",
			test.three,
		}
		if got := judgeSummary(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.compat, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if end := lastEvent(t, program(t, 1, run...)); end.Executed != 0 {
			t.Errorf("%s: the second run ended with %+v", test.compat, end)
		}
		if test.compat == "safe" {
			out := program(t, 0, append([]string{"validate", "--reference", "-C", dir}, run[4:]...)...)
			if !strings.Contains(out, "1 of 1 references have the expected result") {
				t.Error(out)
			}
		}
	}
}
