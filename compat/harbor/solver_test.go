package harbor

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
)

const solvedTask = `
artifacts = ["/app"]
[task]
name = "own/sum"
[agent]
timeout_sec = 90.0
user = "agent"
network_mode = "no-network"
[solution]
env = { LEVEL = "2", KEY = "${TOKEN}" }
[environment]
docker_image = "own/base"
memory_mb = 512
workdir = "/app"
env = { LEVEL = "1", WORD = "x" }
[verifier]
user = "root"
`

// The references of a task work where its agent does, not where its verifier does.
func TestSolver(t *testing.T) {
	files := map[string]string{"task.toml": solvedTask, "tests/test.sh": "exit", "solution/solve.sh": "exit", "solution/.harborignore": "*.md\n", "solution/notes.md": "x"}
	cfg, said := layTask(t, "harbor {\n task = \"task\"\n mode = \"artifacts\"\n}\nverifier { image_map = { \"own/base\" = \"local\" } }", files)
	if cfg == nil || said != "" {
		t.Fatal(said)
	}
	made := cfg.Problems[0].References
	if len(made) != 2 || made[0].Name != "oracle" || made[0].Expect != lang.ExpectPass || made[1].Name != "nop" || made[1].Expect != lang.ExpectFail {
		t.Fatalf("%+v", made)
	}
	in, step := made[0].Solver.In, made[0].Solver.Steps[0]
	got := strings.TrimSuffix(fmt.Sprintln(in.Image, in.User, in.Memory>>20, in.Workdir, in.Online, in.Capabilities, in.Env, in.Inherit[0].From, step.Timeout, step.Script, filepath.Base(step.Directory), len(step.LeaveOut), filepath.Base(step.LeaveOut[0])), "\n")
	if want := "local agent 512 /app false true [{DEBIAN_FRONTEND noninteractive } {LEVEL 2 } {WORD x }] TOKEN 1m30s solve.sh solution 1 notes.md"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if nop := made[1].Solver.Steps[0]; nop.Directory != "" || nop.Script != "" {
		t.Errorf("the no-op runs %+v", nop)
	}
}

// Unusable references have a reason, and the task is graded without them.
func TestUnusableReferences(t *testing.T) {
	const config = "harbor {\n task = \"task\"\n mode = \"artifacts\"\n}"
	steps := "[task]\nname = \"own/x\"\n[environment]\ndocker_image = \"i\"\n[[steps]]\nname = \"one\"\nartifacts = [\"/app\"]\n"
	for name, c := range map[string]struct {
		toml        string
		files       []string
		oracle, nop string
	}{
		"no script":         {solvedTask, nil, "solution/solve.sh not found", ""},
		"healthcheck":       {solvedTask + "[environment.healthcheck]\ncommand = \"x\"\n", []string{"solution/solve.sh"}, "a healthcheck", "a healthcheck"},
		"artifact":          {strings.Replace(solvedTask, "/app", "/solution/x", 1), []string{"solution/solve.sh"}, "an artifact is in /solution", ""},
		"another's hooks":   {solvedTask + "[[verifier.collect]]\ncommand = \"x\"\n", []string{"solution/solve.sh"}, "[[verifier.collect]]", "[[verifier.collect]]"},
		"the agent's hooks": {solvedTask + "[[verifier.collect]]\ncommand = \"x\"\nuser = \"agent\"\n", []string{"solution/solve.sh"}, "", ""},
		"services":          {solvedTask, []string{"solution/solve.sh", "environment/docker-compose.yaml"}, "environment/docker-compose.yaml", "environment/docker-compose.yaml"},
		"a step's user":     {steps + "[steps.agent]\nuser = \"x\"\n", []string{"solution/solve.sh"}, "the step one has user", "the step one has user"},
		"a step's check":    {steps + "[steps.healthcheck]\ncommand = \"x\"\n", []string{"solution/solve.sh"}, "the step one has a healthcheck", "the step one has a healthcheck"},
		"a step's solution": {steps, []string{"solution/solve.sh", "steps/one/solution/other.sh"}, "steps/one/solution/solve.sh not found", ""},
		"right":             {steps, []string{"solution/solve.sh"}, "", ""},
		"no agent's image":  {"artifacts = [\"/app\"]\n[task]\nname = \"own/x\"\n[verifier.environment]\ndocker_image = \"i\"\n", []string{"solution/solve.sh"}, "has no image", "has no image"},
	} {
		files := map[string]string{"task.toml": c.toml, "tests/test.sh": "exit"}
		for _, file := range c.files {
			files[file] = ""
			if strings.HasSuffix(file, ".yaml") {
				files[file] = "services:\n  store:\n    image: i\n"
			}
		}
		cfg, said := layTask(t, config, files)
		if cfg == nil {
			t.Errorf("%s: %s", name, said)
			continue
		}
		for i, want := range []string{c.oracle, c.nop} {
			if got := cfg.Problems[0].References[i].Checkpoints[0].Unusable; !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: reference %d: %q, want %q", name, i, got, want)
			}
		}
	}
}

func TestReferencesReplaced(t *testing.T) {
	files := map[string]string{"task.toml": solvedTask, "tests/test.sh": "exit", "solution/solve.sh": "exit"}
	for config, want := range map[string]int{
		"harbor {\n task = \"task\"\n mode = \"artifacts\"\n references = \"none\"\n}":                   0,
		"harbor {\n task = \"task\"\n mode = \"artifacts\"\n}\nreference { source = \"task/solution\" }": 1,
	} {
		cfg, said := layTask(t, config, files)
		if cfg == nil || len(cfg.Problems[0].References) != want || want == 1 && cfg.Problems[0].References[0].Solver != nil {
			t.Errorf("%s: %s", config, said)
		}
	}
}
