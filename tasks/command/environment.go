package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/ending"
	"github.com/fevalgraph/fevalgraph/tasks/environ"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// FromProject and FromEnvironment are what tasks call the dependencies that
// have a uv project's files, and the versions of what it needs.
const (
	FromProject     = "uv project"
	FromEnvironment = "environment"
)

// OutputPins is the output of Environment: name==version with hashes, for each
// package that the project needs to be built and run, sorted.
const OutputPins = "pins"

// uvTimeout is generous: a first time downloads every wheel.
const uvTimeout = 30 * time.Minute

// Python names the interpreter of a backend.
type Python func(ctx context.Context) (path, version string, err error)

// Environment is the task that asks uv for the versions of all that a project,
// its dependency FromProject, needs. The answer is kept like any other, so that
// it stays the same until the project, or the backend, is another.
type Environment struct {
	Overrides string // file of the project with other versions of what it asks for; "" is none
	Env       environ.List
	Backend   backend.Backend
	Identity  func(context.Context) (backend.Identity, error)
	Python    Python
	Machine   *ending.Machine
}

// Describe implements graph.Task.
func (e *Environment) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe", 2)
	m.String("overrides", e.Overrides)
	e.Env.Describe(m)
	return ending.WithClass(environ.DescribeBackend(ctx, m, e.Identity))
}

// buildNeeds prints what building a project takes, a requirement in a line.
// Python 3.10 and older cannot read the file by itself.
const buildNeeds = `
try:
    import tomllib
    with open("pyproject.toml", "rb") as f:
        print("\n".join(tomllib.load(f).get("build-system", {}).get("requires", ["setuptools>=61"])))
except ModuleNotFoundError:
    print("setuptools>=61")
`

// resolve is run in the project: $1 is the interpreter, $2 the program above,
// $3 a file of overrides or nothing.
const resolve = `set -eu
"$1" -c "$2" >../build.in
uv pip compile --quiet --no-config --no-header --no-annotate --generate-hashes --python "$1" ${3:+--override "$3"} --output-file ../pins.txt pyproject.toml ../build.in`

// Run implements graph.Task.
func (e *Environment) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	o, err := e.run(ctx, w)
	return o, ending.WithClass(err)
}

func (e *Environment) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	python, _, err := e.Python(ctx)
	if err != nil {
		return graph.Outcome{}, err
	}
	tree, _ := w.Input(FromProject, tasks.TreeOutput)
	w.Phase(graph.Workspace)
	session, err := e.Backend.Open(ctx, backend.Spec{Name: w.Addr, Inputs: []backend.Input{{Path: "project", Tree: tree}}})
	if session != nil {
		defer func() {
			w.Phase(graph.Closing)
			session.Close(context.WithoutCancel(ctx))
		}()
	}
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("opening a session: %w", err)
	}
	said := &capped.Buffer{}
	redacted := backend.Redact(io.MultiWriter(said, w.Log), e.Env.Secrets())
	w.Phase(graph.Executing)
	exit, err := session.Exec(ctx, backend.Command{
		Argv: []string{"/bin/sh", "-c", resolve, "sh", python, buildNeeds, e.Overrides},
		Env:  e.Env.Variables(), Dir: "project", Timeout: uvTimeout, Online: true, Output: redacted,
	})
	redacted.Close()
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("asking uv for versions: %w", err)
	}
	if exit.TimedOut {
		return graph.Outcome{}, fmt.Errorf("asking uv for versions: its limit of %v ended it", uvTimeout)
	}
	if exit.Code != 0 || exit.Signal != "" {
		lacks, err := e.Machine.Lacks(ctx, ending.Setup{
			Backend: e.Backend, Spec: backend.Spec{Name: w.Addr}, Env: e.Env.Variables(), Secrets: e.Env.Secrets(), Line: "uv pip compile", Exit: exit,
		})
		if err = ending.Blame(lacks, err, said.Bytes(), false); err != nil {
			return graph.Outcome{}, fmt.Errorf("asking uv for versions: %w", err)
		}
		return graph.Outcome{}, &graph.InputError{Err: fmt.Errorf("uv finds no versions for the uv project: %s", strings.TrimSpace(string(said.Bytes())))}
	}
	w.Phase(graph.Storing)
	f, err := session.Collect(ctx, "pins.txt")
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("fetching what uv chose: %w", err)
	}
	pins, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err = errors.Join(err, f.Close()); err != nil {
		return graph.Outcome{}, fmt.Errorf("fetching what uv chose: %w", err)
	}
	d, err := cache.PutBytes(ctx, w.Store, pins)
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("storing what uv chose: %w", err)
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: OutputPins, Digest: d}}}, nil
}

// Environments makes sure, once per backend and set of versions, that there is
// a Python environment with them, which the sessions of a Run share. The zero
// value is ready; it is safe for concurrent use.
type Environments struct {
	mu    sync.Mutex
	ready map[place]*preparation
}

type place struct {
	backend backend.Backend
	name    string
}

type preparation struct {
	mu       sync.Mutex
	done     bool
	snapshot string
}

// UV says that a Run has the Python environment of a uv project.
type UV struct {
	Project      string // of the workspace: the project, which is installed where it is
	Shared       string // directory for environments, as commands of the backend see it
	Python       Python
	Environments *Environments
}

// venv is a session's own environment, in the workspace.
const venv = ".fevalgraph/venv"

// install makes a session's environment: $1 is the interpreter, $2 the shared
// environment, $3 the project. What is shared is found, and not written to.
const install = `set -eu
uv venv --quiet --no-config --no-project --offline --python "$1" ` + venv + `
where='import sysconfig; print(sysconfig.get_path("purelib"))'
shared=$("$2/venv/bin/python" -c "$where")
printf 'import site; site.addsitedir("%s")\n' "$shared" >"$(` + venv + `/bin/python -c "$where")/fevalgraph.pth"
uv pip install --quiet --no-config --offline --no-deps --no-build-isolation --python ` + venv + `/bin/python --editable "$3"`

// within runs a program in a session's environment: $1 is its directory, $2
// the shared one.
const within = `VIRTUAL_ENV=$1 PATH=$1/bin:$2/venv/bin:$PATH
export VIRTUAL_ENV PATH
shift 2
exec "$@"`

// prepared is an environment that is there.
type prepared struct {
	python, shared, snapshot string
}

// prepare makes the shared environment, if it is not there.
func (u *UV) prepare(ctx context.Context, w *graph.Work, b backend.Backend, env environ.List) (prepared, error) {
	python, version, err := u.Python(ctx)
	if err != nil {
		return prepared{}, err
	}
	d, ok := w.Input(FromEnvironment, OutputPins)
	if !ok {
		return prepared{}, fmt.Errorf("dependency %q has no %s", FromEnvironment, OutputPins)
	}
	pins, err := cache.ReadBlob(ctx, w.Store, d, -1)
	if err != nil {
		return prepared{}, fmt.Errorf("reading the versions: %w", err)
	}
	lines, err := requirements.ReadPins(string(pins))
	if err != nil {
		return prepared{}, err
	}
	p, err := u.Environments.prepare(ctx, b, env, python, version, u.Shared, lines)
	if err != nil {
		return p, fmt.Errorf("preparing the uv project's environment: %w", err)
	}
	return p, nil
}

// prepare makes an environment with the packages of lines, if it is not there.
func (e *Environments) prepare(ctx context.Context, b backend.Backend, env environ.List, python, version, shared string, lines []string) (prepared, error) {
	name := digest(python, version, strings.Join(lines, "\n"))
	p := prepared{python: python, shared: shared + "/" + name}
	at := e.at(place{b, name})
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.done {
		p.snapshot = at.snapshot
		return p, nil
	}
	said := &capped.Buffer{}
	snapshot, exit, err := b.Prepare(ctx, "uv project "+name, backend.Command{
		Argv: requirements.Environment(python, p.shared, lines),
		Env:  env.Variables(), Timeout: uvTimeout, Output: said,
	})
	if err != nil {
		return prepared{}, err
	}
	if exit.Code != 0 || exit.Signal != "" || exit.TimedOut {
		return prepared{}, fmt.Errorf("%s: %s", ending.Words("exit code", exit), strings.TrimSpace(string(backend.RedactBytes(said.Bytes(), env.Secrets()))))
	}
	at.done, at.snapshot, p.snapshot = true, snapshot, snapshot
	return p, nil
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d %s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

func (e *Environments) at(where place) *preparation {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ready == nil {
		e.ready = map[place]*preparation{}
	}
	if e.ready[where] == nil {
		e.ready[where] = &preparation{}
	}
	return e.ready[where]
}

// in is a command that runs argv in the environment.
func (p prepared) in(session backend.Session, argv []string) []string {
	return append([]string{"/bin/sh", "-c", within, "sh", session.Dir() + "/" + venv, p.shared}, argv...)
}
