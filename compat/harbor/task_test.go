package harbor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// layTask makes the files of a project with one task and loads its configuration.
func layTask(t *testing.T, config string, files map[string]string) (*lang.Config, string) {
	t.Helper()
	dir := t.TempDir()
	if config == "" {
		config = `harbor { task = "task" }`
	}
	all := map[string]string{"fevalgraph.hcl": "problem \"p\" {\n" + config + "\n}\n"}
	for name, text := range files {
		all["task/"+name] = text
	}
	for name, text := range all {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	cfg, found := lang.Load(plan.WithBenchmarks(lang.Options{Inputs: lang.Inputs{Dir: dir}}, []plan.Benchmark{Benchmark()}))
	said := ""
	for _, d := range found {
		where := ""
		if d.Range != nil {
			where = fmt.Sprintf("%s:%d ", filepath.Base(d.Range.File), d.Range.Start.Line)
		}
		said += fmt.Sprintf("%s%s %s\n", where, d.Severity, d.Detail)
	}
	if found.HasErrors() {
		cfg = nil
	}
	return cfg, said
}

const plainTask = `
version = "1.0"
artifacts = ["/app"]
[task]
name = "own/sum"
description = "Adds."
keywords = ["small"]
authors = [{ name = "A. Author", email = "a@example.org" }]
[agent]
timeout_sec = 10.0
[verifier]
environment_mode = "separate"
timeout_sec = 45
user = 1000
env = { MODE = "full", KEY = "${TOKEN}", OTHER = "${OTHER:-none}" }
[environment]
docker_image = "own/base"
cpus = 2
memory = "4G"
allow_internet = false
workdir = "/app"
env = { MODE = "part", LINES = "60" }
future = { anything = true }
`

func TestTask(t *testing.T) {
	files := map[string]string{"task.toml": plainTask, "tests/test.sh": "echo 1 >/logs/verifier/reward.txt"}
	cfg, said := layTask(t, "", files)
	if cfg == nil || said != "" {
		t.Fatal(said)
	}
	p := cfg.Problems[0]
	if p.Name != "sum" || p.Description != "Adds." || p.Author != "A. Author" || !slices.Equal(p.Tags, []string{"small"}) || p.Kind() != "verifier" || len(p.Checkpoints) != 1 {
		t.Errorf("%+v", p)
	}
	c := p.Checkpoints[0]
	v := c.Verifier
	got := fmt.Sprintf("%s %s %v %s %v %s %v %d %s %s online=%v %v %v", c.Name, v.Solution, v.Artifacts, v.Image, v.Timeout, v.User, v.CPUs, v.Memory>>20, v.Workdir, v.Env, v.Online, v.Pass, v.Capabilities)
	if want := "main /app [{/app []}] own/base 45s 1000 2 4096 /app [{LINES 60 } {MODE full }] online=false 1 false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(v.Inherit) != 2 || v.Inherit[0].From != "TOKEN" || v.Inherit[0].Default != nil || *v.Inherit[1].Default != "none" {
		t.Errorf("%+v", v.Inherit)
	}
	// HCL wins.
	cfg, said = layTask(t, "harbor { task = \"task\" }\nname = \"mine\"\nverifier {\n  image_map = { \"own/base\" = \"local\" }\n  network = \"public\"\n  timeout = \"5m\"\n}", files)
	if cfg == nil {
		t.Fatal(said)
	}
	if v := cfg.Problems[0].Checkpoints[0].Verifier; cfg.Problems[0].Name != "mine" || v.Image != "local" || !v.Online || v.Timeout.String() != "5m0s" || v.User != "1000" {
		t.Errorf("%+v", v)
	}
}

// Known fields of tasks of earlier and later versions count; others are ignored.
func TestTasksOfAnyAge(t *testing.T) {
	const task = "[task]\nname = \"own/x\"\n"
	for name, c := range map[string]struct{ toml, want string }{
		"first":         {"version = \"1.0\"\n" + task + "[environment]\nmemory = \"2048K\"\nstorage = \"10G\"\nallow_internet = false\n", "2048KiB none"},
		"no string":     {task + "[environment]\nmemory = 4\n", " public"}, // Harbor drops it
		"megabytes":     {"schema_version = \"1.1\"\n" + task + "[environment]\nmemory = \"512\"\nallow_internet = true\n", "512MiB public"},
		"both":          {task + "[environment]\nmemory_mb = 64\nallow_internet = true\nnetwork_mode = \"no-network\"\n", "64MiB none"},
		"mode of steps": {"multi_step_reward_mode = \"last\"\n" + task, " public"},
		"of later":      {"schema_version = \"9.7-rc\"\nwhatever = [1, {a = 2}]\n" + task + "odd = 1\n[later]\na.b = true\n[verifier]\nnew = \"x\"\n[environment]\nnew = 1\n[[environment.mcp_servers]]\nname = \"m\"\n[agent]\nnew = 1979-05-27\n", " public"},
		"no version":    {task, " public"},
	} {
		dir := t.TempDir()
		lay(t, dir, map[string]string{"task.toml": "artifacts = [\"/app\"]\n" + c.toml, "environment/Dockerfile": "FROM own\n", "tests/test.sh": ""})
		files := readerFiles(t, dir)
		read := openTask(files, dir)
		if len(read.Mistakes) > 0 || read.Name != "own/x" || len(read.Steps) != 1 {
			t.Errorf("%s: %+v", name, read.Mistakes)
			continue
		}
		v := read.Steps[0].Verifier
		if got := v.Memory + " " + map[bool]string{true: "none", false: v.Network}[v.Network == "no-network"]; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

const stepsTask = `
schema_version = "1.3"
multi_step_reward_strategy = "mean"
artifacts = [{ source = "/data", exclude = ["*.tmp"] }]
[task]
name = "own/steps"
[environment]
network_mode = "public"
[verifier]
environment_mode = "separate"
timeout_sec = 45
env = { A = "1", B = "1" }
[[steps]]
name = "first"
artifacts = ["/app"]
[[steps]]
name = "second"
[steps.verifier]
timeout_sec = 30
network_mode = "no-network"
env = { B = "2" }
`

func TestSteps(t *testing.T) {
	files := map[string]string{
		"task.toml": stepsTask, "environment/Dockerfile": "FROM own\nWORKDIR /srv\n", "tests/test.sh": "", "tests/helper.sh": "",
		"steps/second/tests/test.sh": "chown x y\ncat reward_details.json\n",
	}
	cfg, said := layTask(t, "", files)
	if cfg == nil || said != "" {
		t.Fatal(said)
	}
	var got []string
	for _, c := range cfg.Problems[0].Checkpoints {
		v := c.Verifier
		var tests []string
		for _, dir := range v.Tests {
			rel, _ := filepath.Rel(filepath.Join(cfg.Root, "task"), dir)
			tests = append(tests, filepath.ToSlash(rel))
		}
		got = append(got, fmt.Sprintf("%s %v %s %v %v %s=%s online=%v %v %d", c.Name, tests, v.Solution, v.Artifacts, v.Timeout, v.Env[1].Name, v.Env[1].Value, v.Online, v.Capabilities, len(v.BrokenIf)))
		if filepath.Base(v.Dockerfile) != "Dockerfile" || v.Workdir != "/srv" {
			t.Errorf("%+v", v)
		}
	}
	want := []string{
		"first [tests] / [{/data [*.tmp]} {/app []}] 10m0s B=1 online=true false 0",
		"second [tests steps/second/tests] /data [{/data [*.tmp]}] 30s B=2 online=false true 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Services of a compose file become services of the verifier, after those they depend on.
func TestCompose(t *testing.T) {
	files := map[string]string{
		"task.toml":         "artifacts = [\"/app\"]\n[task]\nname = \"own/x\"\n[verifier]\nenvironment_mode = \"separate\"\n",
		"tests/Dockerfile":  "FROM own\n",
		"tests/Dockerfile2": "FROM own\n",
		"tests/docker-compose.yaml": `
x-common: &common { restart: always, expose: [5432] }
services:
  web:
    <<: *common
    image: own/web:1
    depends_on: { db: { condition: service_healthy } }
    command: serve "on port" 80 $$HOME
    environment: [MODE=a=b, "EMPTY="]
  main:
    build: { context: "${CONTEXT_DIR}", dockerfile: Dockerfile2 }
    image: ${MAIN_IMAGE_NAME}
    command: ["sleep", "infinity"]
    depends_on: [web]
    environment: { DB: db }
  db:
    image: own/db
    user: "70"
    working_dir: /srv
    entrypoint: []
    healthcheck: { test: pg_isready -q, interval: 2s, timeout: 1s, retries: 20, start_period: 5s }
`,
	}
	cfg, said := layTask(t, "harbor { task = \"task\" }\nverifier { image_map = { \"own/db\" = \"local\" } }", files)
	if cfg == nil || said != "" {
		t.Fatal(said)
	}
	v := cfg.Problems[0].Checkpoints[0].Verifier
	got := fmt.Sprintf("%s %v\n%+v", filepath.Base(v.Dockerfile), v.Env, v.Services)
	want := `Dockerfile2 [{DB db }]
[{Name:db Image:local Entrypoint:[] Command:[] Env:[] User:70 Workdir:/srv Ready:[/bin/sh -c pg_isready -q] ReadyTimeout:1m5s} ` +
		`{Name:web Image:own/web:1 Entrypoint:[] Command:[serve on port 80 $HOME] Env:[{Name:EMPTY Value: Secret:} {Name:MODE Value:a=b Secret:}] User: Workdir: Ready:[] ReadyTimeout:2m0s}]`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	// A verifier with a separate image ignores the containers of the agent.
	files["environment/docker-compose.yaml"], files["environment/Dockerfile"] = "services: { db: { privileged: true } }", "FROM own\n"
	if cfg, said = layTask(t, "", files); cfg == nil {
		t.Error(said)
	}
}

// Settings that a service cannot have are refused by name, with the service and the reason.
func TestComposeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"db: { image: x, volumes: [\"/:/host\"] }":                           `4 error the service db has "volumes", which is not possible: a service has the files of its image, and no others`,
		"db: { image: x, privileged: true }":                                 `the service db has "privileged", which is not possible: a service has nothing of the machine`,
		"db: { image: x, cap_add: [ALL] }":                                   `the service db has "cap_add"`,
		"db: { image: x, devices: [/dev/kvm] }":                              `the service db has "devices"`,
		"db: { image: x, ports: [\"80:80\"] }":                               `the service db has "ports"`,
		"db: { image: x, network_mode: host }":                               `the service db has "network_mode"`,
		"db: { image: x, container_name: y }":                                `the service db has "container_name"`,
		"db: { image: x, extends: { file: y } }":                             `the service db has "extends"`,
		"db: { build: . }":                                                   `the service db has "build", which is not possible: only the image of main is built`,
		"db: { image: x, env_file: /etc/passwd }":                            `the service db has "env_file"`,
		"db: { image: x, whatever: 1 }":                                      `the service db has "whatever", which is not possible: it is not known here`,
		"db: { image: x, environment: { KEY: \"${HOME}\" } }":                `the service db has a variable, "${HOME}"`,
		"db: { image: x, environment: [HOME] }":                              `the service db has no value for HOME`,
		"db: {}":                                                             `the service db has no image`,
		"db: [x]":                                                            `db must be a mapping`,
		"main: { volumes: [\"/var/run/docker.sock:/var/run/docker.sock\"] }": `the service main has "volumes"`,
		"main: { build: .. }":                                                `main must be built in the directory of the file`,
		"main: { build: { context: ., args: { A: 1 } } }":                    `the build of main has "args"`,
		"main: { build: { context: ., dockerfile: ../../Dockerfile } }":      `main must be built in the directory of the file`,
		"db: { image: x, depends_on: [db] }":                                 `the service db depends on itself`,
		"db: { image: x, depends_on: [gone] }":                               `depends on "gone"`,
		"db: { image: x, healthcheck: { test: x, interval: 400h } }":         `interval of the service db must be a duration`,
		"db: { image: x }\nvolumes: { v: {} }":                               `the file has "volumes"`,
		"db: { image: x }\ninclude: [y]":                                     `the file has "include"`,
		"Local_Host.x: { image: x }":                                         `cannot be the name of a service`,
	} {
		_, said := layTask(t, "", map[string]string{
			"task.toml":                 "artifacts = [\"/app\"]\n[task]\nname = \"own/x\"\n[verifier]\nenvironment_mode = \"separate\"\n",
			"tests/Dockerfile":          "FROM own\n",
			"tests/docker-compose.yaml": "version: \"3\"\nname: x\nservices:\n  " + text + "\n",
		})
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %s", text, said, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	const head = "[task]\nname = \"own/x\"\n[verifier]\nenvironment_mode = \"separate\"\n"
	image := map[string]string{"environment/Dockerfile": "FROM own\nWORKDIR /app\n", "tests/test.sh": ""}
	for name, c := range map[string]struct {
		toml   string
		config string
		files  map[string]string
		want   string
	}{
		"no TOML":          {toml: "a = \n", want: "task.toml:1"},
		"no file":          {want: "task.toml"},
		"name":             {toml: "artifacts = [\"/app\"]\n[task]\nname = \"x\"\n", want: "task.toml:3"},
		"shared":           {toml: "artifacts = [\"/app\"]\n[task]\nname = \"own/x\"\n", want: `With mode = "artifacts"`},
		"timeout":          {toml: "artifacts = [\"/app\"]\n" + head + "timeout_sec = \"long\"\n", want: "task.toml:6"},
		"artifact":         {toml: "artifacts = [\"/app/../etc\"]\n" + head, want: "task.toml:1"},
		"destination":      {toml: "artifacts = [\n{ source = \"/app\", destination = \"../x\" }]\n" + head, want: "task.toml:2"},
		"both modes":       {toml: "artifacts = [\"/app\"]\n[task]\nname = \"own/x\"\n[verifier]\nenvironment_mode = \"shared\"\n[verifier.environment]\ncpus = 1\n", want: "task.toml:6"},
		"steps":            {toml: "artifacts = [\"/app\"]\n" + head + "[[steps]]\nname = \"A\"\n[[steps]]\nname = \"a\"\n", want: `two steps are called "a"`},
		"step outside":     {toml: "artifacts = [\"/app\"]\n" + head + "[[steps]]\nname = \"..\"\n", want: "task.toml:6"},
		"windows":          {toml: "artifacts = [\"/app\"]\n" + head + "[environment]\nos = \"windows\"\n", want: "task.toml:7"},
		"allowlist":        {toml: "artifacts = [\"/app\"]\n" + head + "[environment]\nnetwork_mode = \"allowlist\"\n", want: "reaches the hosts of a list, which is empty"},
		"no test.sh":       {toml: "artifacts = [\"/app\"]\n" + head, files: map[string]string{"tests/test.sh": "-"}, want: "test.sh not found in tests"},
		"no image":         {toml: "artifacts = [\"/app\"]\n" + head, files: map[string]string{"environment/Dockerfile": "-"}, want: "the task has no image"},
		"sidecars":         {toml: "artifacts = [\"/app\"]\n" + head, files: map[string]string{"environment/docker-compose.yaml": "services: {}"}, want: "docker-compose.yaml:1 error services must be a mapping"},
		"ignored tests":    {toml: "artifacts = [\"/app\"]\n" + head, files: map[string]string{"tests/.harborignore": "*.sh\n"}, want: ".harborignore leaves out tests/test.sh"},
		"tests in /tests":  {toml: "artifacts = [\"/tests/x\"]\n" + head, want: "not below /tests"},
		"nested artifacts": {toml: "artifacts = [\"/app\", \"/app/x\"]\n" + head, want: "overlap"},
		"two drivers":      {toml: "artifacts = [\"/app\"]\n" + head, config: "harbor { task = \"task\" }\ncommand {\n root = \"task\"\n solution = \"x\"\n run = \"x\"\n}", want: "verifier"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"task.toml": c.toml}
			for file, text := range image {
				files[file] = text
			}
			for file, text := range c.files {
				if files[file] = text; text == "-" {
					delete(files, file)
				}
			}
			if c.toml == "" {
				delete(files, "task.toml")
			}
			if cfg, said := layTask(t, c.config, files); cfg != nil || !strings.Contains(said, c.want) {
				t.Errorf("%v, want %s", said, c.want)
			}
		})
	}
}
