//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/dockerimage"
	"github.com/fevalgraph/fevalgraph/internal/testkit/fakejudge"
	"github.com/fevalgraph/fevalgraph/internal/testkit/fakeuv"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
	"github.com/fevalgraph/fevalgraph/internal/testkit/workerprogram"
)

// realVariable makes the staleness scripts use the uv and uvx in PATH instead of the stand-ins, and enables scripts
// that the stand-ins cannot run.
const realVariable = "FEVALGRAPH_TEST_REAL"

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"fevalgraph": func() {
		setCallerClock()
		checkedMain()
	}})
}

// suite runs the tests, with stand-ins for uv and uvx next to fevalgraph. These are separate programs, since this one
// takes ten times as long to start.
type suite struct{ tests *testing.M }

// Run implements testscript.TestingM.
func (s suite) Run() int {
	if os.Getenv(realVariable) == "" {
		defer ramdir.Use()()
	}
	bin, _, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator))
	uv := filepath.Join(bin, "uv")
	build := exec.Command("go", "build", "-o", uv, "github.com/fevalgraph/fevalgraph/internal/testkit/fakeuv/standin")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // without C libraries it starts twice as fast
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the stand-in for uv: %v\n%s", err, out)
		return 1
	}
	if os.Getenv("FEVALGRAPH_TEST_DOCKER") != "" {
		if err := workerprogram.Build(filepath.Join(bin, "fevalgraph-worker")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := os.Symlink(uv, filepath.Join(bin, "uvx")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return s.tests.Run()
}

// One script for each thing that a user can change: which nodes a plan calls stale, which run then, and that none runs
// after that.
func TestStale(t *testing.T) {
	runScripts(t, "stale", func(script string) bool { return os.Getenv(realVariable) != "" && slices.Contains(staleWithUV, script) })
}

// staleWithUV are the scripts of stale that run with the real uv, if it is enabled: those whose outcome could differ from
// the stand-in's. All others are decided before a node runs.
var staleWithUV = []string{
	"backend_isolation", "backend_setup", "backend_shims", "backend_versions", "command_import", "marker_group", "problem_before",
	"problem_import", "problem_ports", "requirement_added", "requirement_locked", "solution_setup", "source_verdict",
	"tests_conftest", "tests_missing", "tests_plain", "tests_skipped", "tests_verdict", "verifier",
}

func never(string) bool  { return false }
func always(string) bool { return true }

// Invalid input: the exit code, and a message with the location and a way to fix it.
func TestBad(t *testing.T) {
	longtest.Skip(t)
	runScripts(t, "bad", never)
}

// Every command: typical use, JSON, help, wrong usage.
func TestCommand(t *testing.T) { runScripts(t, "cmd", never) }

// Properties that only a real pytest has.
func TestReal(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skipf("needs uv: set %s=1, or use `make test-all`", realVariable)
	}
	runScripts(t, "real", always)
}

// dockerVariable is set if DOCKER_HOST is a daemon with the tests' images.
const dockerVariable = "FEVALGRAPH_TEST_DOCKER"

// Scripts that need a Docker daemon. Containers have a separate uv.
func TestDocker(t *testing.T) {
	if os.Getenv(dockerVariable) == "" {
		t.Skip("needs a Docker daemon; make test has one")
	}
	runScripts(t, "docker", never)
}

// judgeVariable is the path of go-judge.
const judgeVariable = "FEVALGRAPH_TEST_GOJUDGE"

// Properties that only go-judge has. Scripts get its path as GOJUDGE.
func TestGoJudge(t *testing.T) {
	if os.Getenv(judgeVariable) == "" {
		t.Skip("needs go-judge; make test has it")
	}
	runScripts(t, "gojudge", never)
}

// runScripts runs the scripts of a directory in parallel, also with other tests: with real programs those whose names
// real accepts.
func runScripts(t *testing.T, dir string, real func(script string) bool) {
	t.Parallel()
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", dir, "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts found in %s: %v", dir, err)
	}
	if !longtest.Asked() { // one of each subject, such as one with the name of a command
		scripts = slices.CompactFunc(scripts, func(a, b string) bool { return subject(a) == subject(b) })
	}
	testscript.Run(t, testscript.Params{
		Files: scripts,
		Setup: func(env *testscript.Env) error {
			name := scriptName(env)
			if dir == "docker" {
				env.Setenv("DOCKER_HOST", os.Getenv("DOCKER_HOST"))
				image, err := ownImage(env, name)
				if err != nil {
					return err
				}
				env.Setenv("IMAGE", image)
				env.Setenv("FEVALGRAPH_VAR_image", image)
			}
			if dir == "gojudge" {
				env.Setenv("GOJUDGE", os.Getenv(judgeVariable))
			}
			return setUp(env, real(name))
		},
		Cmds:               scriptCommands(),
		Condition:          condition,
		RequireUniqueNames: true,
	})
}

// scriptName returns a script's file name without its extension.
func scriptName(env *testscript.Env) string {
	return strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
}

// subject returns the first word of a script's name.
func subject(path string) string {
	word, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".txtar"), "_")
	return word
}

// ownImage makes an image that only this script uses, until the script ends. Projects share what they prepare on an
// image: a script that cleans up would remove it from concurrent scripts.
func ownImage(env *testscript.Env, name string) (string, error) {
	image := "fevalgraph-test/of-" + strings.ReplaceAll(name, "_", "-") + ":latest"
	if err := dockerimage.Make(image, "FROM fevalgraph-test/python:latest\nLABEL script="+name+"\n"); err != nil {
		return "", err
	}
	env.Defer(func() {
		if err := dockerimage.Remove(image); err != nil {
			env.T().Log(err)
		}
	})
	return image, nil
}

// condition evaluates [private-network] and [full-isolation] (this machine allows them), [gpu] (it has a GPU for
// containers), and [long] (long tests are enabled).
func condition(name string) (bool, error) {
	switch name {
	case "long":
		return longtest.Asked(), nil
	case "private-network":
		return local.PrivateNetwork() == nil, nil
	case "full-isolation":
		_, err := local.New(nil, local.Options{Confinement: local.Confinement{Isolation: "full"}}).Isolation()
		return err == nil, nil
	case "root":
		return os.Getuid() == 0, nil
	case "gpu":
		_, err := os.Stat("/dev/nvidiactl")
		return err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// setUp gives a script the project of testdata/project, except files that the script contains, and separate directories
// for everything that outlives a run.
func setUp(env *testscript.Env, real bool) error {
	env.Values[skipKey{}] = env.T().Skip
	env.Values[judgeServer("")] = map[string]*fakejudge.Server{}
	env.Values[remoteCache("")] = map[string]*remotetest.Server{}
	env.Values[bazelRemotes("")] = map[string]*bazelRemote{}
	env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
	env.Setenv("FEVALGRAPH_CACHE_DIR", filepath.Join(env.WorkDir, ".store"))
	standIns, _, _ := strings.Cut(env.Getenv("PATH"), string(filepath.ListSeparator))
	for variable, program := range map[string]string{"FEVALGRAPH": "fevalgraph", "UV": "uv", "UVX": "uvx"} {
		env.Setenv(variable, filepath.Join(standIns, program))
	}
	env.Setenv("UVX_LOG", filepath.Join(env.WorkDir, ".home", ".cache", "uv", fakeuv.LogFile))
	// scripts whose commands write to a file outside need it
	env.Setenv("FEVALGRAPH_ISOLATION", "none")
	schemas, err := filepath.Abs(filepath.Join("..", "..", "docs", "schema"))
	if err != nil {
		return err
	}
	env.Setenv(schemaVariable, schemas)
	if _, err := os.ReadDir(schemas); err != nil { // commands read them, which go's test cache does not see
		return err
	}
	env.Setenv("COLUMNS", "2000") // fits.txtar has narrow terminals
	env.Setenv("GOGC", "400")     // garbage collection is a seventh of the cost of programs of 20 ms
	if real {
		env.Setenv("FEVALGRAPH_ISOLATION", "")
		if err := useRealTools(env); err != nil {
			return err
		}
	}
	return copyProject(filepath.Join("testdata", "project"), env.WorkDir)
}

// useRealTools hides the stand-ins, and shares uv's cache between scripts.
func useRealTools(env *testscript.Env) error {
	bin := filepath.Join(env.WorkDir, ".bin")
	standIns, rest, _ := strings.Cut(env.Getenv("PATH"), string(filepath.ListSeparator))
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(standIns, "fevalgraph"), filepath.Join(bin, "fevalgraph")); err != nil {
		return err
	}
	env.Setenv("PATH", bin+string(filepath.ListSeparator)+rest)
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	env.Setenv("UV_CACHE_DIR", filepath.Join(cache, "uv"))
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if reachesIndex(name) {
			env.Setenv(name, value)
		}
	}
	return nil
}

// reachesIndex reports whether uv could need the variable to find packages.
func reachesIndex(name string) bool {
	switch strings.ToUpper(name) {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR":
		return true
	}
	return strings.HasPrefix(name, "UV_")
}

// copyProject copies a directory, but no file over another.
func copyProject(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}
