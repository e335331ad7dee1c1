package examples_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// A config.yaml that SlopCodeBench's own loader refuses is an error of its problem alone, with the reason.
func TestSCBenchMistakes(t *testing.T) {
	const head, tail = "name: x\ndescription: one\nentry_file: main\nversion: 1\n", "checkpoints:\n  checkpoint_1:\n    version: 1\n"
	mistakes := map[string]struct{ config, said string }{
		"no_yaml":           {"name: [\nx: }\n", "did not find expected node content"},
		"two_documents":     {head + tail + "---\n" + head, "The file has a second document"},
		"yes_as_name":       {strings.Replace(head, "name: x", "name: yes", 1) + tail, "name is missing, or no string"},
		"empty":             {"", "not a mapping"},
		"no_map":            {"- name\n", "not a mapping"},
		"required":          {"name: x\n" + tail, "entry_file is missing, or no string.\ndescription is missing, or no string.\nversion is missing."},
		"number_as_name":    {strings.Replace(head, "name: x", "name: 5", 1) + tail, "name is missing, or no string"},
		"fraction":          {strings.Replace(head, "version: 1", "version: 1.5", 1) + tail, "version must be a whole number"},
		"no_tags":           {head + "tags: []\n" + tail, "tags must not be empty"},
		"difficulty":        {head + "difficulty: easy\n" + tail, "difficulty must be Easy, Medium or Hard"},
		"env":               {head + "env:\n  A: 1\n" + tail, "env.A must be a string"},
		"dependencies":      {head + "test_dependencies: null\n" + tail, "test_dependencies must be a list"},
		"timeout":           {head + "timeout: soon\n" + tail, "timeout must be a number"},
		"upper_group":       {head + "markers:\n  slow:\n    group: FUNCTIONALITY\n    description: d\n" + tail, "markers.slow.group must be one of Core, Error, Functionality, Regression"},
		"lower_group":       {head + "markers:\n  slow:\n    group: core\n    description: d\n" + tail, "markers.slow.group must be one of"},
		"marker":            {head + "markers:\n  slow:\n    group: Core\n" + tail, "markers.slow.description is missing"},
		"no_checkpoints":    {head, "at least one checkpoint"},
		"list":              {head + "checkpoints:\n- version: 1\n", "checkpoints must be a map"},
		"null_checkpoint":   {head + "checkpoints:\n  checkpoint_1: null\n", "checkpoints.checkpoint_1 must be a map"},
		"unknown_key":       {head + tail + "    groups: [a]\n", "checkpoints.checkpoint_1 has the unknown key groups"},
		"no_version":        {head + "checkpoints:\n  checkpoint_1:\n    order: 1\n", "checkpoints.checkpoint_1.version is missing"},
		"checkpoint_env":    {head + tail + "    env:\n      B: true\n", "checkpoints.checkpoint_1.env.B must be a string"},
		"checkpoint_limit":  {head + tail + "    timeout: [1]\n", "checkpoints.checkpoint_1.timeout must be a number"},
		"tests_are_missing": {head + tail, "tests\" not found"},
	}
	root := t.TempDir()
	for name, m := range mistakes {
		write(t, filepath.Join(root, "problems", name, "config.yaml"), m.config)
		if name != "tests_are_missing" {
			write(t, filepath.Join(root, "problems", name, "tests", "test_checkpoint_1.py"), "")
		}
	}
	write(t, filepath.Join(root, "problems", "good", "config.yaml"), head+"unknown: [1]\ntimeout: 2.9\n"+`checkpoints:
  checkpoint_1: { <<: &first { version: 1, timeout: 9 }, timeout: null }
  checkpoint_2: { version: "2", timeout: 0.5, include_prior_tests: "no" }
  checkpoint_3: { version: 1, timeout: "45" }
  checkpoint_4: { version: 1 }
  checkpoint_5: { <<: *first }
  checkpoint_6: { <<: *first, timeout: 010 }
`)
	for _, n := range []string{"1", "2", "3", "4", "5", "6"} {
		write(t, filepath.Join(root, "problems", "good", "tests", "test_checkpoint_"+n+".py"), "")
	}
	cfg, found := load(lang.Options{Inputs: lang.Inputs{Dir: "scbench", Vars: []string{"root=" + root}}})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if len(cfg.Problems) != len(mistakes)+1 {
		t.Errorf("there are %d problems, want %d", len(cfg.Problems), len(mistakes)+1)
	}
	for _, p := range cfg.Problems {
		var said []string
		for _, d := range p.Invalid {
			said = append(said, d.Detail)
		}
		switch m := mistakes[p.Name]; {
		case p.Name == "good" && len(said) > 0:
			t.Errorf("%s: %q, want no error", p.Name, said)
		case !strings.Contains(strings.Join(said, "\n"), m.said):
			t.Errorf("%s: %q, want %q", p.Name, said, m.said)
		}
		if p.Name != "good" {
			continue
		}
		var limits []string
		for _, c := range p.Checkpoints {
			limits = append(limits, c.Timeout.String())
		}
		if got, want := strings.Join(limits, " "), "0s 0s 45s 2s 9s 8s"; got != want {
			t.Errorf("limits are %s, want %s", got, want)
		}
		if p.Checkpoints[1].IncludePriorTests {
			t.Error(`include_prior_tests: "no" is no`)
		}
	}
}

// Problems are in the root or in problems/, with a solution for each checkpoint, one for all of them, or both; then the
// checkpoint's own wins.
func TestSCBenchLayouts(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"old/solutions/checkpoint_1", "new/solution", "both/solution", "both/solutions/checkpoint_1", "problems/deeper/solution"} {
		problem := filepath.Join(root, filepath.FromSlash(file[:strings.Index(file, "/solution")]))
		write(t, filepath.Join(problem, "config.yaml"), "name: x\ndescription: one\nentry_file: main\nversion: 1\ncheckpoints:\n  checkpoint_1: { version: 1 }\n  checkpoint_2: { version: 1 }\n")
		write(t, filepath.Join(root, filepath.FromSlash(file), "main.py"), "")
		for _, n := range []string{"1", "2"} {
			write(t, filepath.Join(problem, "tests", "test_checkpoint_"+n+".py"), "")
		}
	}
	cfg, found := load(lang.Options{Inputs: lang.Inputs{Dir: "scbench", Vars: []string{"root=" + root}}})
	if len(found) > 0 {
		t.Fatal(found)
	}
	got := map[string]string{}
	for _, s := range cfg.Solutions {
		for _, c := range s.Checkpoints {
			rel, err := filepath.Rel(root, c.Source)
			if err != nil {
				t.Fatal(err)
			}
			if c.Missing {
				rel = "none"
			}
			got[s.Problem.Name] += " " + filepath.ToSlash(rel)
		}
	}
	want := map[string]string{
		"old": " old/solutions/checkpoint_1 none", "new": " new/solution new/solution",
		"both": " both/solutions/checkpoint_1 both/solution", "deeper": " problems/deeper/solution problems/deeper/solution",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, p := range cfg.Problems {
		if old := p.Name == "deeper"; p.Pytest.OmitSkipped == old {
			t.Errorf("%s leaves skipped tests out of totals: %t", p.Name, p.Pytest.OmitSkipped)
		}
	}
}

// The lock file contains the problems' requirements for the default Python.
func TestSCBenchLock(t *testing.T) {
	lock, err := requirements.Load(filepath.Join("scbench", requirements.FileName))
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"deepdiff", "jsonschema", "pytest", "pytest-json-ctrf", "pytest-json-report", "pytest-timeout"}
	for _, requires := range [][]string{own, append([]string{"httpx"}, own...), append([]string{"pyyaml"}, own...), append([]string{"pyarrow", "pyyaml"}, own...), {"scb-check==0.2.0"}} {
		if _, ok := lock.Pins("3.12", "linux/amd64", requires); !ok {
			t.Errorf("%q is not locked", requires)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Other files of a checkout: limits and snippets of conversion.toml, and markers of a pytest.ini, which are registered
// and do not change the group of tests.
func TestSCBenchConversion(t *testing.T) {
	root := t.TempDir()
	const config = "name: x\ndescription: one\nentry_file: main\nversion: 1\nmarkers:\n  slow:\n    group: Functionality\n    description: takes long\ncheckpoints:\n  checkpoint_1:\n    version: 1\n  checkpoint_2:\n    version: 1\n    timeout: 7\n"
	for _, name := range []string{"one", "two", "bad"} {
		write(t, filepath.Join(root, name, "config.yaml"), config)
		write(t, filepath.Join(root, name, "tests", "test_checkpoint_1.py"), "")
	}
	write(t, filepath.Join(root, "one", "pytest.ini"), "# markers only\n[pytest]\naddopts = -x\nmarkers =\n    slow: of pytest.ini\n    net(host): needs the network\n    two words: no marker\n[other]\nmarkers = x: no\n")
	const conversion = "[one]\nverifier_timeout_sec = 1800\n[one.test_sh_snippets]\nall = \"ulimit -v 4194304\"\ncheckpoint_2 = [\"A=1\", \"export A\"]\n"
	write(t, filepath.Join(root, "conversion.toml"), conversion+"[bad]\ntest_sh_snippet = 5\n")
	cfg, found := load(lang.Options{Inputs: lang.Inputs{Dir: "scbench", Vars: []string{"root=" + root}}})
	if found.HasErrors() {
		t.Fatal(found)
	}
	var got []string
	for _, p := range cfg.Problems {
		for _, c := range p.Checkpoints {
			line := fmt.Sprintf("%s %s: %v %v %q", p.Name, c.Name, c.Timeout, c.SessionTimeout, c.Before)
			for _, m := range c.Markers {
				line += fmt.Sprintf(" %s=%q(%s)", m.Name, m.Group, m.Description)
			}
			got = append(got, line)
		}
		if (len(p.Invalid) > 0) != (p.Name == "bad") {
			t.Errorf("%s: %v", p.Name, p.Invalid)
		}
	}
	want := []string{
		`one checkpoint_1: 0s 30m0s "ulimit -v 4194304" net=""(needs the network) slow="functionality"(takes long)`,
		`one checkpoint_2: 7s 30m0s "ulimit -v 4194304\nA=1\nexport A" net=""(needs the network) slow="functionality"(takes long)`,
		`two checkpoint_1: 0s 2h0m0s "" slow="functionality"(takes long)`,
		`two checkpoint_2: 7s 2h0m0s "" slow="functionality"(takes long)`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	write(t, filepath.Join(root, "conversion.toml"), "[one]\n\nx = = 1\n")
	cfg, _ = load(lang.Options{Inputs: lang.Inputs{Dir: "scbench", Vars: []string{"root=" + root}}})
	if said := cfg.Problems[0].Invalid.Error(); !strings.Contains(said, "conversion.toml:3") {
		t.Errorf("the error is %s", said)
	}
}
