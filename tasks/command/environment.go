package command

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// FromProject and FromEnvironment are the names of the dependencies with a uv project's files, and with
// the versions of its requirements.
const (
	FromProject     = "uv project"
	FromEnvironment = "environment"
)

// The outputs of Environment.
const (
	OutputPins   = "pins"   // name==version with hashes, for each package that the project needs to be built and run, sorted
	OutputInside = "inside" // packages that the project names by path, relative to it, one per line
)

// uvTimeout is generous: the first call downloads every wheel.
const uvTimeout = 30 * time.Minute

// Python names the interpreter of a backend.
type Python func(ctx context.Context) (path, version string, err error)

// Environment is the task that resolves the requirements of a project, its dependency FromProject, with
// uv. The result is stored like other answers, so it is stable until the project or the backend changes.
type Environment struct {
	Overrides string // file of the project with overriding versions; "" means none
	Env       session.Environment
	Backend   backend.Backend
	Identity  func(context.Context) (backend.Identity, error)
	Python    Python
	Machine   *session.Machine
}

// Describe implements graph.Task.
func (e *Environment) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe", 3) // 3: with packages by path
	m.String("overrides", e.Overrides)
	e.Env.Describe(m)
	return session.WithClass(session.DescribeBackend(ctx, m, e.Identity))
}

// buildNeeds prints the build requirements of the projects in its arguments, one per line. Python 3.10 and
// older lack a parser for the files.
const buildNeeds = `
import os, sys
for project in sys.argv[1:]:
    needs = ["setuptools>=61"]
    try:
        import tomllib
        with open(os.path.join(project, "pyproject.toml"), "rb") as f:
            needs = tomllib.load(f).get("build-system", {}).get("requires", needs)
    except (ModuleNotFoundError, FileNotFoundError, NotADirectoryError):
        pass
    print("\n".join(needs))
`

// takeInside removes the packages that uv names by path from pins.txt, and prints their paths
// relative to the project. It fails for a path outside of the project.
const takeInside = `
import os, re, sys, urllib.parse
rest, taken = [], False
with open("../pins.txt") as f:
    for line in f:
        if line.lstrip().startswith("--hash"):
            if not taken:
                rest.append(line)
            continue
        path = re.sub("^(-e |[^ ]+ @ (?=file:))", "", line.split(" #")[0].strip().removesuffix("\\").strip())
        taken = path != "" and "==" not in path and " @ " not in path
        if not taken:
            rest.append(line)
            continue
        if path.startswith("file:"):
            path = urllib.parse.unquote(urllib.parse.urlsplit(path).path)
        path = os.path.relpath(os.path.realpath(path), os.path.realpath("."))
        if path.split(os.sep)[0] == "..":
            sys.exit("the project needs a package by path that is outside of it: " + line.strip())
        print(path)
with open("../pins.txt", "w") as f:
    f.writelines(rest)
`

// resolve runs in the project: $1 is the interpreter, $2 and $3 are the programs above, $4 is a file
// of overrides or empty. The build requirements of packages inside the project are known only after
// uv has listed the packages.
const resolve = `set -eu
"$1" -c "$2" . >../build.in
compile() {
	uv pip compile --quiet --no-config --no-header --no-annotate --generate-hashes --python "$1" ${2:+--override "$2"} --output-file ../pins.txt pyproject.toml ../build.in
	"$1" -c "$3" >../inside.txt
}
compile "$1" "$4" "$3"
if [ -s ../inside.txt ]; then
	tr '\n' '\0' <../inside.txt | xargs -0 "$1" -c "$2" . >../build.in
	compile "$1" "$4" "$3"
fi`

// Run implements graph.Task.
func (e *Environment) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	o, err := e.run(ctx, w)
	return o, session.WithClass(err)
}

func (e *Environment) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	python, _, err := e.Python(ctx)
	if err != nil {
		return graph.Outcome{}, err
	}
	tree, _ := w.Input(FromProject, tasks.TreeOutput)
	plan := session.Plan{
		Backend: e.Backend, Env: e.Env, Machine: e.Machine, SetupTimeout: uvTimeout,
		Spec: backend.Spec{Name: w.Addr, Inputs: []backend.Input{{Path: "project", Tree: tree}}},
	}
	return session.Run(ctx, w, plan, func(s *session.Session) (graph.Outcome, error) {
		failed, err := s.SetUp(ctx, session.Step{
			Line: "uv pip compile", Directory: "project", Argv: []string{"/bin/sh", "-c", resolve, "sh", python, buildNeeds, takeInside, e.Overrides},
		})
		switch {
		case err != nil:
			return graph.Outcome{}, fmt.Errorf("resolving the uv project: %w", err)
		case failed != nil && failed.TimedOut:
			return graph.Outcome{}, fmt.Errorf("resolving the uv project: uv exceeded the limit of %v", uvTimeout)
		case failed != nil:
			return graph.Outcome{}, &graph.InputError{Err: fmt.Errorf("uv cannot resolve the uv project: %s", strings.TrimSpace(string(failed.Output)))}
		}
		k := session.Keeper{Ctx: ctx, Store: w.Store}
		for _, output := range []string{OutputPins, OutputInside} {
			content, err := session.Read(ctx, s, output+".txt", maxFile)
			if err != nil {
				return graph.Outcome{}, fmt.Errorf("fetching the versions that uv chose: %w", err)
			}
			k.Keep(output, content)
		}
		return k.Outcome, k.Err
	})
}

// Environments creates, once per backend and set of versions, a Python environment that sessions of a Run
// share. The zero value is ready to use; it is safe for concurrent use.
type Environments struct{ preparations backend.Preparations }

// UV specifies the Python environment of a uv project for a Run.
type UV struct {
	Project      string // directory of the project in the workspace; installed in place
	Shared       string // directory for environments, as seen by commands of the backend
	Python       Python
	Environments *Environments
}

// venv is a session's own environment, in the workspace.
const venv = ".fevalgraph/venv"

// install creates a session's environment: $1 is the interpreter, $2 the shared environment, the others
// are the project and the packages inside of it, which are installed as editable. The shared environment
// is read, but not written.
const install = `set -eu
uv venv --quiet --no-config --no-project --offline --python "$1" ` + venv + `
where='import sysconfig; print(sysconfig.get_path("purelib"))'
shared=$("$2/venv/bin/python" -c "$where")
printf 'import site; site.addsitedir("%s")\n' "$shared" >"$(` + venv + `/bin/python -c "$where")/fevalgraph.pth"
shift 2
for package; do
	shift
	[ ! -d "$package" ] || set -- "$@" --editable
	set -- "$@" "$package"
done
uv pip install --quiet --no-config --offline --no-deps --no-build-isolation --python ` + venv + `/bin/python "$@"`

// within runs a program in a session's environment: $1 is its directory, $2
// the shared one.
const within = `VIRTUAL_ENV=$1 PATH=$1/bin:$2/venv/bin:$PATH
export VIRTUAL_ENV PATH
shift 2
exec "$@"`

// prepared is an existing environment.
type prepared struct {
	python, shared, snapshot string
	packages                 []string // in the workspace: the project and packages that it names by path
}

// prepare creates the shared environment, if it is missing.
func (u *UV) prepare(ctx context.Context, w *graph.Work, b backend.Backend, env session.Environment) (prepared, error) {
	python, version, err := u.Python(ctx)
	if err != nil {
		return prepared{}, err
	}
	pins, err := chosen(ctx, w, OutputPins)
	if err != nil {
		return prepared{}, err
	}
	lines, err := requirements.ReadPins(pins)
	if err != nil {
		return prepared{}, err
	}
	inside, err := chosen(ctx, w, OutputInside)
	if err != nil {
		return prepared{}, err
	}
	p, err := u.Environments.prepare(ctx, b, env, python, version, u.Shared, lines)
	if err != nil {
		return p, fmt.Errorf("preparing the uv project's environment: %w", err)
	}
	p.packages = []string{u.Project}
	for line := range strings.Lines(inside) {
		p.packages = append(p.packages, path.Join(u.Project, strings.TrimSuffix(line, "\n")))
	}
	return p, nil
}

// chosen reads an output of Environment.
func chosen(ctx context.Context, w *graph.Work, output string) (string, error) {
	d, ok := w.Input(FromEnvironment, output)
	if !ok {
		return "", fmt.Errorf("dependency %q has no %s", FromEnvironment, output)
	}
	content, err := cache.ReadBlob(ctx, w.Store, d, maxFile)
	if err != nil {
		return "", fmt.Errorf("reading the versions that uv chose: %w", err)
	}
	return string(content), nil
}

// prepare creates an environment with the packages of lines, if it is missing.
func (e *Environments) prepare(ctx context.Context, b backend.Backend, env session.Environment, python, version, shared string, lines []string) (prepared, error) {
	if shared == "" {
		return prepared{}, errors.New("no directory for environments (hint: set HOME or XDG_CACHE_HOME)")
	}
	name := requirements.Name(python, version, lines)
	p := prepared{python: python, shared: shared + "/" + name}
	var err error
	p.snapshot, err = e.preparations.Do(b, name, func() (string, error) {
		said := &capped.Buffer{}
		snapshot, exit, err := b.Prepare(ctx, "uv project "+name, backend.Command{
			Argv: requirements.Environment(python, p.shared, lines),
			Env:  env.Preparing(), Timeout: uvTimeout, Output: said, Prepares: p.shared,
		})
		if err == nil && (exit.Code != 0 || exit.Signal != "" || exit.TimedOut) {
			err = fmt.Errorf("%s: %s", session.Words("exit code", exit), strings.TrimSpace(string(backend.RedactBytes(said.Bytes(), env.Masked()))))
		}
		return snapshot, err
	})
	return p, err
}

// wrap returns a command that runs argv in the environment.
func (p prepared) wrap(dir string, argv []string) []string {
	return append([]string{"/bin/sh", "-c", within, "sh", dir + "/" + venv, p.shared}, argv...)
}
