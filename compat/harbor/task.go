package harbor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/lang"
)

// task is a directory of a task as Harbor's own loader reads it: unknown keys are ignored,
// for any version of the schema, and what it refuses is an error.
type task struct {
	*document.File
	files *lang.ReaderFiles
	dir   string

	Name        string // "organisation/name", or the directory's name
	Description string
	Keywords    []string
	Authors     []string
	Multi       bool       // it has [[steps]]
	Last        bool       // the trial's reward is that of the last step that was reached, not their mean
	Steps       []taskStep // in order; of a task without [[steps]] one, called singleStep
}

// singleStep is the checkpoint of a task without steps.
const singleStep = "main"

// taskStep is the unit of verification.
type taskStep struct {
	Name      string
	At        *yaml.Node
	Artifacts []taskArtifact // without what is collected always
	Verifier  taskVerifier
}

// taskArtifact is a file or directory that a verifier gets.
type taskArtifact struct {
	Source      string // absolute, in the container of the agent and in that of the verifier
	Destination string // relative to artifacts/; "" is where the source is
	Exclude     []string
	Service     string // of the agent's containers; "" is the main one
}

// taskVerifier describes the verification of a step, with everything that it inherits.
type taskVerifier struct {
	Mode string // "shared" or "separate"
	At   *yaml.Node
	// Tests are directories that are merged at /tests; later ones win. It is empty if the image contains
	// them.
	Tests               []string
	LeaveOut            []string // paths in them that are not uploaded
	Image               string
	Dockerfile, Context string
	Services            []lang.MadeBlock // containers next to it
	User, Workdir       string
	Timeout             string
	Env                 map[string]string
	Inherit             map[string]string // names to names of variables of the host, perhaps with ":-" and a default
	Network             string            // "public", "no-network" or "allowlist"
	Hosts               []string          // of an allowlist
	CPUs                float64
	Memory              string
	GPU                 bool
	Collects            bool // hooks run where the agent ran
}

// openTask reads a directory. If that fails, only the errors that it reports count.
func openTask(files *lang.ReaderFiles, dir string) *task {
	t := &task{File: document.OpenTOML(files, filepath.Join(dir, "task.toml")), files: files, dir: dir, Name: filepath.Base(dir)}
	if t.Root == nil {
		return t
	}
	about := t.table(t.Root, "task")
	if about != nil {
		if t.Name = t.text(about, "name"); strings.Count(t.Name, "/") != 1 || strings.HasPrefix(t.Name, "/") || strings.HasSuffix(t.Name, "/") {
			t.Fail(document.At(about, "name"), fmt.Sprintf("the name of a task is \"organisation/name\", not %q", t.Name))
		}
		t.Description, t.Keywords = t.text(about, "description"), t.texts(about, "keywords")
		for _, author := range t.tables(about, "authors") {
			t.Authors = append(t.Authors, t.text(author, "name"))
		}
	}
	if system := t.text(t.table(t.Root, "environment"), "os"); system != "" && system != "linux" {
		t.Fail(document.At(t.Root, "environment", "os"), fmt.Sprintf("tasks for %s are not supported", system))
	}
	for _, key := range []string{"schema_version", "version"} {
		t.text(t.Root, key)
	}
	t.Last = t.choice(t.Root, "multi_step_reward_strategy", "mean", "mean", "final") == "final"
	steps := t.tables(t.Root, "steps")
	if t.Multi = len(steps) > 0; !t.Multi {
		t.Steps = []taskStep{t.step(t.Root, singleStep, "")}
		return t
	}
	var known []string
	for _, n := range steps {
		name := t.text(n, "name")
		if !isStepName(name) {
			t.Fail(n, fmt.Sprintf("%q is not a valid name of a step: steps are directories below steps/", name))
			continue
		}
		if slices.Contains(known, strings.ToLower(name)) {
			t.Fail(n, fmt.Sprintf("the step %q is duplicated", name))
			continue
		}
		known = append(known, strings.ToLower(name))
		t.Steps = append(t.Steps, t.step(n, name, filepath.Join(dir, "steps", name)))
	}
	return t
}

func isStepName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\:*?\"<>|\x00") && strings.TrimRight(name, ". ") == name
}

// step reads a step; dir is its own directory, "" of a task without steps.
func (t *task) step(n *yaml.Node, name, dir string) taskStep {
	s := taskStep{Name: name, At: n}
	s.Artifacts = t.artifacts(t.Root)
	if n != t.Root {
		for _, a := range t.artifacts(n) {
			s.Artifacts = slices.DeleteFunc(s.Artifacts, func(other taskArtifact) bool { return other.Source == a.Source && other.Service == a.Service })
			s.Artifacts = append(s.Artifacts, a)
		}
	}
	s.Verifier = t.verifier(n, dir)
	return s
}

// artifacts reads a list of them.
func (t *task) artifacts(n *yaml.Node) []taskArtifact {
	list := document.At(n, "artifacts")
	if list == nil {
		return nil
	}
	if list.Kind != yaml.SequenceNode {
		t.Fail(list, "artifacts must be a list")
		return nil
	}
	var all []taskArtifact
	for _, one := range list.Content {
		a := taskArtifact{Source: document.Scalar(one, "")}
		if one.Kind == yaml.MappingNode {
			a = taskArtifact{Source: t.text(one, "source"), Destination: t.text(one, "destination"), Exclude: t.texts(one, "exclude"), Service: t.text(one, "service")}
		}
		clean := filepath.ToSlash(filepath.Clean(a.Source))
		switch {
		case !strings.HasPrefix(a.Source, "/") || hasParent(a.Source) || clean == "/":
			t.Fail(one, fmt.Sprintf("the source of an artifact is an absolute path without \"..\", not %q", a.Source))
			continue
		case a.Destination != "" && (!filepath.IsLocal(a.Destination) || hasParent(a.Destination) || a.Destination == "manifest.json"):
			t.Fail(one, fmt.Sprintf("the destination of an artifact is a path below artifacts/, not %q", a.Destination))
			continue
		}
		a.Source = clean
		all = append(all, a)
	}
	return all
}

func hasParent(path string) bool { return slices.Contains(strings.Split(path, "/"), "..") }
