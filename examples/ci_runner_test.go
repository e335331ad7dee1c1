//go:build unix

package examples_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is a GitHub workflow, as far as those in ci/github go.
type workflow struct {
	Env  map[string]string
	Jobs map[string]workflowJob
}

type workflowJob struct {
	Needs    any // a name, or a list
	If       string
	Strategy struct{ Matrix map[string]string }
	Outputs  map[string]string
	Env      map[string]string
	Steps    []workflowStep
}

type workflowStep struct {
	ID, If, Uses string
	With, Env    map[string]string
}

func readWorkflow(t *testing.T, name string) workflow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("ci", "github", name))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return w
}

// pipelines runs jobs of workflows on this machine, each in a separate directory with a separate home. Jobs share only
// artifacts, within one pipeline, and the cache.
type pipelines struct {
	t         *testing.T
	project   string // files for actions/checkout
	clone     string // files for actions/checkout of another repository
	bin       string // programs that are installed
	cache     string
	artifacts string
	values    map[string]string // of expressions
	lost      string            // an artifact that does not arrive
	failOn    string            // FG_FAIL_ON
	home      string            // of the last job
	dir       string            // as above
	code      int               // that the first of its steps that failed ended with
}

// begin discards the artifacts of the last pipeline.
func (p *pipelines) begin() { p.artifacts = p.t.TempDir() }

// job runs a job and returns whether it succeeded, its printed text, and its outputs.
func (p *pipelines) job(w workflow, name string, more map[string]string) (bool, string, map[string]string) {
	p.t.Helper()
	p.dir, p.home, p.code = p.t.TempDir(), p.t.TempDir(), 0
	outputs := filepath.Join(p.home, "outputs")
	job, good := w.Jobs[name], true
	var printed bytes.Buffer
	for _, step := range job.Steps {
		if !good && !strings.HasPrefix(step.If, "always()") || strings.Contains(step.If, "pull_request") && p.value("github.event.number", nil) == "" {
			continue
		}
		with := func(name string) string { return p.expand(step.With[name], more) }
		action, _, _ := strings.Cut(step.Uses, "@")
		switch {
		case action == "actions/checkout" && with("repository") != "":
			p.git("", "clone", "--quiet", p.clone, filepath.Join(p.dir, with("path")))
		case action == "actions/checkout":
			p.copy(p.project, p.dir)
			p.copy("ci", filepath.Join(p.dir, "ci"))
		case action == "actions/cache/restore":
			p.copy(filepath.Join(p.cache, with("path")), filepath.Join(p.dir, with("path")))
		case action == "actions/cache/save":
			p.copy(filepath.Join(p.dir, with("path")), filepath.Join(p.cache, with("path")))
		case action == "actions/upload-artifact":
			for path := range strings.FieldsSeq(with("path")) {
				p.upload(with("name"), filepath.Join(p.dir, path))
			}
		case action == "actions/download-artifact":
			p.download(with("name")+with("pattern"), filepath.Join(p.dir, with("path")))
		case action == "./ci":
			cmd := exec.Command("sh", "-c", p.script())
			cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &printed, &printed
			cmd.Env = []string{"PATH=" + p.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + os.TempDir(),
				"GITHUB_OUTPUT=" + outputs, "GITHUB_ACTION_PATH=ci", "FG_STEPS=install " + with("steps"), "GITHUB_REPOSITORY=some/project"}
			for _, env := range []map[string]string{w.Env, job.Env, step.Env} {
				for name, value := range env {
					cmd.Env = append(cmd.Env, name+"="+p.expand(value, more))
				}
			}
			cmd.Env = append(cmd.Env, "FG_TARGET=1ms", "FG_FAIL_ON="+p.failOn) // a shard for each cell
			if err := cmd.Run(); err != nil && good {
				good, p.code = false, cmd.ProcessState.ExitCode()
			}
		default:
			p.t.Fatalf("job %s uses %q, which this test does not know", name, step.Uses)
		}
	}
	text, _ := os.ReadFile(outputs) // there can be none
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		found[key] = value
	}
	return good, printed.String(), found
}

// script is the script of the action.
func (p *pipelines) script() string {
	text, err := os.ReadFile(filepath.Join("ci", "action.yml"))
	var action struct {
		Runs struct{ Steps []struct{ Run string } }
	}
	if err == nil {
		err = yaml.Unmarshal(text, &action)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return action.Runs.Steps[len(action.Runs.Steps)-1].Run
}

// evaluate runs evaluate.yml in the order of its jobs, and returns the numbers of the shards and the output of merge.
func (p *pipelines) evaluate() (shards []string, printed string) {
	p.t.Helper()
	p.begin()
	w := readWorkflow(p.t, "evaluate.yml")
	good, printed, outputs := p.job(w, "plan", nil)
	if !good {
		p.t.Fatalf("plan failed:\n%s", printed)
	}
	var numbers []json.Number
	if err := json.Unmarshal([]byte(outputs["shards"]), &numbers); err != nil {
		p.t.Fatalf("the shards are %q: %v", outputs["shards"], err)
	}
	for _, n := range numbers {
		shards = append(shards, n.String())
		if good, printed, _ := p.job(w, "evaluate", map[string]string{"matrix.shard": n.String()}); !good {
			p.t.Fatalf("shard %s failed:\n%s", n, printed)
		}
	}
	_, printed, _ = p.job(w, "merge", nil)
	return shards, printed
}

// expand replaces expressions by their values.
func (p *pipelines) expand(text string, more map[string]string) string {
	for {
		before, rest, ok := strings.Cut(text, "${{")
		if !ok {
			return strings.TrimSpace(text)
		}
		expression, after, _ := strings.Cut(rest, "}}")
		text = before + p.value(strings.TrimSpace(expression), more) + after
	}
}

func (p *pipelines) value(expression string, more map[string]string) string {
	value, known := more[expression]
	if !known {
		value, known = p.values[expression]
	}
	if !known {
		p.t.Fatalf("this test does not know the value of %q", expression)
	}
	return value
}

// upload keeps a file, or what is in a directory, as actions/upload-artifact does.
func (p *pipelines) upload(name, path string) {
	to := filepath.Join(p.artifacts, name)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		to = filepath.Join(to, filepath.Base(path))
	}
	p.copy(path, to)
}

func (p *pipelines) download(pattern, to string) {
	names, err := filepath.Glob(filepath.Join(p.artifacts, pattern))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range names {
		if filepath.Base(name) != p.lost {
			p.copy(name, to)
		}
	}
}

// copy copies a file or directory over an existing one, and ignores missing ones.
func (p *pipelines) copy(from, to string) {
	p.t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, content, info.Mode())
	})
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
}

func (p *pipelines) git(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(os.Environ()), "HOME="+p.project, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
