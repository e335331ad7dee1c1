package harbor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

const (
	shared   = "shared"
	separate = "separate"

	script      = "test.sh"
	composeFile = "docker-compose.yaml"
)

// verifier resolves how a step is verified. n is the step's table, or the root's, and dir
// the step's directory or "".
func (t *task) verifier(n *yaml.Node, dir string) taskVerifier {
	own, of := t.table(n, "verifier"), t.table(t.Root, "verifier")
	v := taskVerifier{At: n, Env: map[string]string{}, Inherit: map[string]string{}}
	levels := []*yaml.Node{own, of} // the closest first
	if n == t.Root {
		levels = levels[:1]
	}
	// A step's limit has a separate default, and never inherits the task's.
	v.Timeout = seconds(t.number(own, "timeout_sec", 600))
	v.Mode = t.mode(levels)
	resources := t.table(t.Root, "environment")
	for i := len(levels) - 1; i >= 0 && v.Mode == separate; i-- {
		if environment := t.table(levels[i], "environment"); environment != nil {
			resources = environment
		}
	}
	t.variables(resources, v.Env, v.Inherit) // its containers have them
	for i := len(levels) - 1; i >= 0; i-- {
		t.variables(levels[i], v.Env, v.Inherit)
		if user := t.user(levels[i], "user"); user != "" {
			v.User = user
		}
		v.Collects = v.Collects || len(t.tables(levels[i], "collect")) > 0
	}
	t.image(&v, levels, dir)
	t.resources(&v, resources, levels)
	return v
}

// mode returns how the verifier relates to the agent's environment.
func (t *task) mode(levels []*yaml.Node) string {
	for _, level := range levels {
		mode := t.choice(level, "environment_mode", "", shared, separate)
		environment := t.table(level, "environment")
		if mode == shared && environment != nil {
			t.Fail(environment, "a shared verifier has no separate environment")
		}
		if mode != "" {
			return mode
		}
		if environment != nil {
			return separate
		}
	}
	return shared
}

// image finds where the verifier's image comes from, and so the tests.
func (t *task) image(v *taskVerifier, levels []*yaml.Node, dir string) {
	places := []string{filepath.Join(t.dir, "tests")}
	if dir != "" {
		places = []string{filepath.Join(dir, "tests"), places[0]}
	}
	for i, place := range places {
		if v.Mode != separate {
			break
		}
		if v.Image = t.text(t.table(levels[i], "environment"), "docker_image"); v.Image != "" {
			return
		}
		if t.build(v, place) {
			return
		}
	}
	// The agent's environment. Its image has no tests: they are uploaded.
	for i := len(places) - 1; i >= 0; i-- {
		if t.files.Exists(places[i]) {
			v.Tests = append(v.Tests, places[i])
		}
	}
	v.LeaveOut = t.leftOut(v.Tests)
	found := false
	for _, place := range v.Tests {
		at := filepath.Join(place, script)
		found = found || t.files.Exists(at)
		if slices.Contains(v.LeaveOut, at) || slices.Contains(v.LeaveOut, place) {
			t.Fail(nil, fmt.Sprintf("%s leaves out %s", harborignored, t.inside(at)))
		}
	}
	if !found {
		t.Fail(v.At, fmt.Sprintf("%s not found in %s", script, t.inside(places[0])))
	}
	environment := filepath.Join(t.dir, "environment")
	if v.Image = t.text(t.table(t.Root, "environment"), "docker_image"); v.Image != "" {
		t.composed(v, environment, v.Image)
	} else if !t.build(v, environment) {
		t.Fail(nil, "the task has no image: environment/Dockerfile is missing, and [environment] has no docker_image")
	}
}

// leftOut returns the paths in directories of tests that .harborignore files leave out.
func (t *task) leftOut(tests []string) (all []string) {
	g := newIgnores(func(rel string) string {
		text, err := t.files.Read(filepath.Join(t.dir, filepath.FromSlash(rel)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fail(nil, fmt.Sprintf("%v", err))
		}
		return text
	})
	for _, dir := range tests {
		rules, err := t.files.Glob(dir, "**/"+harborignored)
		if err != nil {
			t.Fail(nil, fmt.Sprintf("%v", err))
		}
		if len(rules) == 0 {
			continue
		}
		names, err := t.files.Glob(dir, "**")
		if err != nil {
			t.Fail(nil, fmt.Sprintf("%v", err))
		}
		for _, name := range names {
			if at := filepath.Join(dir, name); g.excluded(t.inside(at), false) && path.Base(name) != harborignored {
				all = append(all, at)
			}
		}
	}
	return all
}

// build reports whether an image is built in a directory, and how.
func (t *task) build(v *taskVerifier, dir string) bool {
	return t.composed(v, dir, "") || t.recipe(v, dir)
}

// recipe reports whether a directory has a Dockerfile, which v then has.
func (t *task) recipe(v *taskVerifier, dir string) bool {
	file := filepath.Join(dir, "Dockerfile")
	if !t.files.Exists(file) {
		return false
	}
	v.Dockerfile, v.Context = file, dir
	return true
}

// inside resolves a path relative to the task.
func (t *task) inside(path string) string {
	if rel, err := filepath.Rel(t.dir, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// resources reads what a container gets, and which network.
func (t *task) resources(v *taskVerifier, n *yaml.Node, levels []*yaml.Node) {
	v.CPUs = t.number(n, "cpus", 0)
	v.GPU = t.number(n, "gpus", 0) > 0
	v.Memory = t.memory(n)
	if v.Workdir = t.text(n, "workdir"); v.Workdir == "" && v.Dockerfile != "" {
		v.Workdir = t.workdir(v.Dockerfile)
	}
	modes := []string{"public", "no-network", "allowlist"}
	hosts := document.At(n, "allowed_hosts")
	v.Hosts = t.texts(n, "allowed_hosts")
	v.Network = t.choice(n, "network_mode", "", modes...)
	if allowed := document.At(n, "allow_internet"); v.Network == "" && hosts == nil && allowed != nil {
		if v.Network = "public"; document.Scalar(allowed, "") == "false" {
			v.Network = "no-network"
		}
	}
	for i := len(levels) - 1; i >= 0; i-- {
		v.Network = t.choice(levels[i], "network_mode", v.Network, modes...)
		if document.At(levels[i], "allowed_hosts") != nil {
			v.Hosts = t.texts(levels[i], "allowed_hosts")
		}
	}
	if v.Network == "" {
		v.Network = "public"
	}
}

// memory returns the memory of an environment as a size; "" means no limit.
func (t *task) memory(n *yaml.Node) string {
	if mb := t.number(n, "memory_mb", 0); mb > 0 {
		return fmt.Sprintf("%.0fMiB", mb)
	}
	old := document.At(n, "memory")
	if old == nil || old.Tag != document.Text { // Harbor drops values that are not strings
		return ""
	}
	if m := memoryText().FindStringSubmatch(strings.ToUpper(old.Value)); m != nil {
		return m[1] + map[string]string{"": "MiB", "M": "MiB", "G": "GiB", "K": "KiB"}[m[2]]
	}
	t.Fail(old, fmt.Sprintf("memory must be a size such as \"4G\", not %q", old.Value))
	return ""
}

var memoryText = lazyregexp.New(`^(\d+)([KMG]?)$`)

// workdir returns the last WORKDIR of a Dockerfile if it is a literal absolute path.
func (t *task) workdir(file string) string {
	text, err := t.files.Read(file)
	if err != nil {
		t.Fail(nil, fmt.Sprintf("%v", err))
		return ""
	}
	place := ""
	for _, m := range workdirText().FindAllStringSubmatch(text, -1) {
		place = strings.Trim(m[1], `"'`)
	}
	if !strings.HasPrefix(place, "/") || strings.ContainsAny(place, "$ ") {
		return ""
	}
	return place
}

var workdirText = lazyregexp.New(`(?im)^\s*WORKDIR\s+(\S.*?)\s*$`)

func seconds(n float64) string { return fmt.Sprintf("%gs", n) }
