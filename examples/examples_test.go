package examples_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/compat"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/examples"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/cli"
	"github.com/fevalgraph/fevalgraph/internal/testkit/dockerimage"
	"github.com/fevalgraph/fevalgraph/internal/testkit/workerprogram"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

var update = flag.Bool("update", false, "rewrite the lists of nodes in testdata")

// realVariable makes the examples really run, with uv from PATH.
const realVariable = "FEVALGRAPH_TEST_REAL"

// dockerVariable is set if DOCKER_HOST is a daemon with the tests' images.
const dockerVariable = "FEVALGRAPH_TEST_DOCKER"

// needsDocker skips a test without a daemon. With one, containers get the program that fevalgraph,
// which is the test here, finds next to itself.
func needsDocker(t *testing.T) {
	t.Helper()
	if os.Getenv(dockerVariable) == "" {
		t.Skip("needs a Docker daemon; make test has one")
	}
	if err := buildWorker(); err != nil {
		t.Fatal(err)
	}
}

var buildWorker = sync.OnceValue(func() error {
	return workerprogram.Build(filepath.Join(filepath.Dir(os.Args[0]), "fevalgraph-worker"))
})

func TestQuickstartCompiles(t *testing.T) {
	compiles(t, lang.Options{Inputs: lang.Inputs{Dir: "quickstart"}}, "quickstart.nodes")
}

func TestDockerCompiles(t *testing.T) {
	cfg := compiles(t, lang.Options{Inputs: lang.Inputs{Dir: "docker"}}, "docker.nodes")
	if c := cfg.Backends[1].Container; c == nil || c.Build == nil || filepath.Base(c.Build.Dockerfile) != "Dockerfile" {
		t.Errorf("the backend is %+v", cfg.Backends[1])
	}
}

// With an image, every cell is on the container backend.
func TestSCBenchImageCompiles(t *testing.T) {
	cfg := compiles(t, lang.Options{Inputs: lang.Inputs{Dir: "scbench", Vars: []string{"root=" + checkout(t), "image=some/image"}}}, "scbench_image.nodes")
	if d := cfg.Backends[1].Container; d == nil || d.Image != "some/image" {
		t.Errorf("the backend is %+v", d)
	}
}

// The scbench example reads a checkout of two problems of our own.
func TestSCBenchCompiles(t *testing.T) {
	cfg := compiles(t, lang.Options{Inputs: lang.Inputs{Dir: "scbench", Vars: []string{"root=" + checkout(t)}}}, "scbench.nodes")
	var got []string
	for _, p := range cfg.Problems {
		for _, c := range p.Checkpoints {
			line := fmt.Sprintf("%s v%d %s: %s, timeout %v, session %v, prior %t", p.Name, p.Version, c.Name, p.Entry, c.Timeout, c.SessionTimeout, c.IncludePriorTests)
			for _, m := range c.Markers {
				line += fmt.Sprintf(", marker %s %s", m.Name, m.Group)
			}
			for _, a := range c.Assets {
				line += fmt.Sprintf(", asset %s %s", a.Name, filepath.Base(a.Source))
			}
			got = append(got, line)
		}
	}
	want := []string{
		"adder v1 checkpoint_1: uv run add.py, timeout 1m40s, session 2h0m0s, prior true",
		"adder v1 checkpoint_2: uv run add.py, timeout 2m30s, session 2h0m0s, prior true",
		"adder v1 checkpoint_3: uv run add.py, timeout 1m40s, session 2h0m0s, prior false",
		"adder v1 checkpoint_4: uv run add.py, timeout 0s, session 2h0m0s, prior true",
		"greeter v2 checkpoint_1: uv run greet.py, timeout 3m20s, session 2h0m0s, prior true, marker polite functionality, asset people people.txt",
		"greeter v2 checkpoint_2: uv run greet.py, timeout 3m20s, session 2h0m0s, prior true, marker polite functionality, asset people people.txt",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// load reads a configuration as the program does.
func load(o lang.Options) (*lang.Config, diag.List) {
	o.Kinds = kind.Blocks(kinds.All())
	return lang.Load(plan.WithBenchmarks(o, compat.Benchmarks()))
}

// compiles loads a configuration without any finding, and compares its nodes and their inputs with a file of testdata.
func compiles(t *testing.T, o lang.Options, golden string) *lang.Config {
	t.Helper()
	cfg, found := load(o)
	if len(found) > 0 {
		t.Fatal(found)
	}
	disk, err := cache.OpenDisk(t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(cfg, 1, plan.Environment{
		Store: disk,
		Executor: func(b *lang.Backend, _ []string) (plan.Executor, error) {
			switch b.Kind {
			case docker.Kind:
				return plan.Executor{Backend: docker.Unreachable(errors.New("no daemon is needed to compile"))}, nil
			case gojudge.Kind:
				return plan.Executor{Sandbox: fake.NewSandbox(disk, nil)}, nil
			}
			return plan.Executor{Backend: local.New(disk, local.Options{})}, nil
		},
		LookupEnv: func(string) (string, bool) { return "", false },
		Pins:      func(context.Context, backend.Backend, []string, []string) ([]string, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for id := range graph.ID(p.Graph.Len()) {
		n := p.Graph.Node(id)
		fmt.Fprintln(&got, n.Addr)
		for _, d := range n.Deps {
			fmt.Fprintf(&got, "  %s\n", p.Graph.Node(d.On).Addr)
		}
	}
	path := filepath.Join("testdata", golden)
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the nodes differ from %s; got\n%s", path, got.String())
	}
	return cfg
}

// init writes the whole quickstart except the lock file, which depends on the machine.
func TestQuickstartIsEmbedded(t *testing.T) {
	list := func(fsys fs.FS) map[string]string {
		files := map[string]string{}
		err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (path == ".fevalgraph" || d.Name() == "__pycache__") {
				return fs.SkipDir
			}
			if d.IsDir() || path == "fevalgraph.lock" {
				return nil
			}
			text, err := fs.ReadFile(fsys, path)
			files[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	directories := map[string]string{"pytest": "quickstart", "plain": "plain", "judge": "judge", "command": "research", "slopcodebench": "scbench",
		"task": "task", "frontier-algorithmic": "frontier-algorithmic", "frontier-research": "frontier-research", "harbor": "harbor", "ci": "ci", "gate": "gate"}
	if len(examples.Starters) != len(directories) {
		t.Errorf("%d starters, want %d", len(examples.Starters), len(directories))
	}
	for _, starter := range examples.Starters {
		name := directories[starter.Kind]
		have, want := list(starter.Files()), list(os.DirFS(name))
		if name == "ci" {
			delete(want, "README.md") // of this repository
		}
		for path, text := range want {
			if got, ok := have[path]; !ok || got != text {
				t.Errorf("%s: %s is not embedded as it is", name, path)
			}
		}
		if len(have) != len(want) {
			t.Errorf("%s: %d files are embedded, there are %d", name, len(have), len(want))
		}
	}
}

// Without a conftest.py and checkpoint blocks, pytest gets the command's options.
func TestPlainRuns(t *testing.T) {
	dir := project(t, "plain")
	runs(t, dir, nil, 1, []string{
		"greet/hasty greeting passed: core 2/2, functionality 0/0, regression 0/0, error 0/0",
		"greet/hasty shouting failed: core 0/1, functionality 0/0, regression 2/2, error 0/0",
		"greet/right greeting passed: core 2/2, functionality 0/0, regression 0/0, error 0/0",
		"greet/right shouting passed: core 1/1, functionality 0/0, regression 2/2, error 0/0",
	})
}

// The solutions of the gate pass, and its cheats and the empty program do not.
func TestGateRuns(t *testing.T) {
	dir := project(t, "gate")
	if out := program(t, 0, "validate", "--reference", "--repeat", "2", "-C", dir); !strings.HasSuffix(out, "5 of 5 references have the expected result in each of 2 repeats; 0 flaky\n") {
		t.Errorf("validate --reference prints\n%s", out)
	}
}

func TestQuickstartRuns(t *testing.T) {
	dir := project(t, "quickstart")
	runs(t, dir, nil, 1, quickstartVerdicts)
}

var quickstartVerdicts = []string{
	"tally/hasty checkpoint_1 failed: core 1/2, functionality 1/2, regression 0/0, error 1/1",
	"tally/hasty checkpoint_2 passed: core 3/3, functionality 1/1, regression 4/5, error 0/2",
	"tally/hasty checkpoint_3 failed: core 0/1, functionality 0/1, regression 8/11, error 1/1",
	"tally/reference checkpoint_1 passed: core 2/2, functionality 2/2, regression 0/0, error 1/1",
	"tally/reference checkpoint_2 passed: core 3/3, functionality 1/1, regression 5/5, error 2/2",
	"tally/reference checkpoint_3 passed: core 1/1, functionality 1/1, regression 11/11, error 1/1",
}

// Verdicts in containers and on this machine equal those of the quickstart. After the image's name refers to another
// image, only tests in containers run again; another name of the same image changes nothing.
func TestDockerRuns(t *testing.T) {
	needsDocker(t)
	dir := project(t, "docker", "quickstart")
	var want []string
	for _, solution := range []string{"hasty", "reference"} {
		for range 2 { // backends
			for _, line := range quickstartVerdicts {
				if strings.HasPrefix(line, "tally/"+solution) {
					want = append(want, line)
				}
			}
		}
	}
	const image, name, synonym = "fevalgraph-test/python:latest", "fevalgraph-test/moving:one", "fevalgraph-test/moving:two"
	t.Cleanup(func() {
		for _, tag := range []string{name, synonym} {
			dockerCommand(t, "rmi", tag)
		}
	})
	dockerCommand(t, "tag", image, name)
	dockerCommand(t, "tag", image, synonym)
	runs(t, dir, []string{"--var", "image=" + name}, 1, want)

	if got := executed(t, program(t, 1, "run", "-C", dir, "--json", "--var", "image="+synonym)); len(got) > 0 {
		t.Errorf("under another name of the image these ran: %v", got)
	}
	if err := dockerimage.Make(name, "FROM "+image+"\nLABEL moved=yes\n"); err != nil {
		t.Fatal(err)
	}
	again := executed(t, program(t, 1, "run", "-C", dir, "--json", "--var", "image="+name))
	judged := 0
	for _, addr := range again {
		if strings.HasPrefix(addr, "pytest:") {
			judged++
		}
		if !strings.Contains(addr, "docker.box") {
			t.Errorf("%s ran again although only the image is another", addr)
		}
	}
	if judged != len(quickstartVerdicts) {
		t.Errorf("with another image pytest ran %d times, want %d: %v", judged, len(quickstartVerdicts), again)
	}
}

// The image is built on that of the tests. A comment in its Dockerfile causes a build, but no other image.
func TestDockerBuilds(t *testing.T) {
	needsDocker(t)
	dir := project(t, "docker", "quickstart")
	run := func() []string {
		return executed(t, program(t, 0, "run", "-C", dir, "--json", "--var", "base=fevalgraph-test/python:latest", "backend=docker.box,solution=reference"))
	}
	if ran := run(); !slices.Contains(ran, "image:docker.box") || !slices.Contains(ran, "pytest:tally/checkpoint_3/reference@docker.box") {
		t.Errorf("these ran: %v", ran)
	}
	if ran := run(); len(ran) > 0 {
		t.Errorf("without a change these ran: %v", ran)
	}
	name := filepath.Join(dir, "box", "Dockerfile")
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, append(text, "# a comment\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if ran := run(); !slices.Equal(ran, []string{"image:docker.box"}) {
		t.Errorf("after a comment these ran: %v", ran)
	}
	program(t, 0, "clean", "-C", dir, "--containers")
}

// dockerCommand runs the docker command, which must succeed.
func dockerCommand(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
		t.Errorf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// executed returns the addresses of the nodes whose work was done in a run.
func executed(t *testing.T, stream string) []string {
	t.Helper()
	var ran []string
	for line := range strings.Lines(stream) {
		var e event.NodeDone
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "node.done" && e.State != event.Cached {
			ran = append(ran, e.Addr)
		}
	}
	return ran
}

func TestSCBenchRuns(t *testing.T) {
	dir := project(t, "scbench")
	runs(t, dir, []string{"--var", "root=" + checkout(t), "--var", "python="}, 0, scbenchVerdicts)
}

func TestSCBenchDockerRuns(t *testing.T) {
	needsDocker(t)
	dir := project(t, "scbench")
	runs(t, dir, []string{"--var", "root=" + checkout(t), "--var", "python=", "--var", "image=fevalgraph-test/python:latest"}, 0, scbenchVerdicts)
}

func TestHarborRuns(t *testing.T) {
	if _, err := local.New(nil, local.Options{Confinement: local.Confinement{Isolation: "full"}}).Isolation(); err != nil {
		t.Skipf("needs namespaces: %v", err)
	}
	dir := project(t, "harbor")
	runs(t, dir, nil, 0, []string{"greet/mine main passed: score 1"})
}

var scbenchVerdicts = []string{
	"adder/reference checkpoint_1 passed: core 1/1, functionality 0/0, regression 0/0, error 0/0",
	"adder/reference checkpoint_2 passed: core 1/1, functionality 0/0, regression 1/1, error 0/0",
	"adder/reference checkpoint_3 passed: core 1/1, functionality 0/0, regression 0/0, error 0/0",
	"greeter/reference checkpoint_1 passed: core 1/1, functionality 1/1, regression 0/0, error 1/1",
	"greeter/reference checkpoint_2 passed: core 1/1, functionality 1/1, regression 2/3, error 0/0",
}

// runs evaluates a project twice: the first run judges, the second executes
// nothing.
func runs(t *testing.T, dir string, flags []string, code int, want []string) {
	t.Helper()
	run := append([]string{"run", "-C", dir, "--json"}, flags...)
	// If two backends produce equal reports, nodes that read them run once.
	if end := lastEvent(t, program(t, code, run...)); end.Executed == 0 || end.Executed+end.Cached != end.Nodes || end.Exit != code {
		t.Errorf("the first run ended with %+v", end)
	}
	results, err := report.Decode(strings.NewReader(program(t, 0, "results", "-C", dir, "--format", "json")))
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(results); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if end := lastEvent(t, program(t, code, run...)); end.Executed != 0 || end.Cached != end.Nodes {
		t.Errorf("the second run ended with %+v", end)
	}
}

func summary(results *report.Results) []string {
	var lines []string
	for _, cell := range results.Cells {
		for _, c := range cell.Checkpoints {
			word := string(c.Class)
			switch {
			case c.Class == verdict.Judged && c.Passed:
				word = "passed"
			case c.Class == verdict.Judged:
				word = "failed"
			case c.Message != nil:
				word += " (" + *c.Message + ")"
			}
			var counts []string
			for _, g := range verdict.Groups {
				counts = append(counts, fmt.Sprintf("%s %d/%d", g, c.Groups[g].Passed, c.Groups[g].Total))
			}
			if c.Score != nil {
				counts = []string{fmt.Sprintf("score %g", *c.Score)}
			}
			lines = append(lines, fmt.Sprintf("%s/%s %s %s: %s", cell.Problem, cell.Solution, c.Name, word, strings.Join(counts, ", ")))
		}
	}
	return lines
}

// program runs fevalgraph and returns its standard output.
func program(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	got := cli.Main(args, cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: os.LookupEnv, Benchmarks: compat.Benchmarks(), Kinds: kinds.All()})
	if got != code {
		t.Errorf("%v ended with %d, want %d\n%s", args, got, code, errs.String())
	}
	return out.String()
}

func lastEvent(t *testing.T, stream string) event.RunEnd {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(stream), "\n")
	var end event.RunEnd
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil || end.Type != "run.end" {
		t.Fatalf("the stream ends with %q (%v)", lines[len(lines)-1], err)
	}
	return end
}

// project copies an example, and the examples that it uses, to a directory where it can run, with a separate store.
func project(t *testing.T, name string, beside ...string) string {
	t.Helper()
	if os.Getenv(realVariable) == "" {
		t.Skipf("needs uv: set %s=1, or use `make test-all`", realVariable)
	}
	dir := t.TempDir()
	for _, file := range os.Environ() {
		if name, _, _ := strings.Cut(file, "="); strings.HasPrefix(name, "FEVALGRAPH_") && name != realVariable && name != dockerVariable {
			t.Setenv(name, "")
		}
	}
	t.Setenv("COLUMNS", "200") // tables have all columns
	t.Setenv("FEVALGRAPH_CACHE_DIR", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, example := range append(beside, name) {
		if err := os.CopyFS(filepath.Join(dir, example), os.DirFS(example)); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, example, ".fevalgraph")); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, name)
}

// checkout writes the checkout of testdata and returns its directory.
func checkout(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "checkout.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
