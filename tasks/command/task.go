package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/ending"
	"github.com/fevalgraph/fevalgraph/tasks/environ"
	"github.com/fevalgraph/fevalgraph/tasks/outputs"
)

// Task runs a command that makes outputs of its inputs. Whatever keeps it from that,
// the command's own failure as well as the machine's, is an error: an output is there, and
// whole, or nothing is stored and what needs it is broken.
type Task struct {
	Inputs       []TaskInput // later ones win
	Directory    string      // of the workspace, where everything runs
	Setup        []Step
	SetupTimeout time.Duration // of all of Setup together; 0 is none
	Argv         []string
	Timeout      time.Duration // of Argv; 0 is none
	Offline      bool          // Argv reaches no network
	Env          environ.List
	Outputs      []TaskOutput
	VerifyInputs []func() error // as of Run

	Python *Packages // nil needs none

	Machine  *ending.Machine
	Backend  backend.Backend
	Identity func(context.Context) (backend.Identity, error) // of Backend, memoised by the caller
}

// TaskInput is a dependency with a tree, and its place in the workspace.
type TaskInput struct{ As, Path string }

// Packages are Python packages of a lock file, in an environment that comes first in PATH.
type Packages struct {
	Pins         func(context.Context) ([]string, error) // name==version with hashes
	Shared       string                                  // directory for environments, as commands of the backend see it
	Interpreter  Python
	Environments *Environments

	pins []string // of the last Describe
}

// Describe implements graph.Task.
func (t *Task) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	for _, in := range t.Inputs {
		m.String("place of "+in.As, in.Path)
	}
	m.String("directory", t.Directory)
	describeSetup(m, t.Setup, t.SetupTimeout)
	m.Strings("argv", t.Argv)
	m.String("timeout", t.Timeout.String())
	m.Bool("offline", t.Offline)
	for _, o := range t.Outputs {
		m.String("output "+o.Name, o.Kind+" "+o.Path)
	}
	t.Env.Describe(m)
	if t.Python != nil {
		_, version, err := t.Python.Interpreter(ctx)
		if err != nil {
			return ending.WithClass(err)
		}
		m.String("python", version)
		if t.Python.pins, err = t.Python.Pins(ctx); err != nil {
			return ending.WithClass(err)
		}
		m.Strings("requirements", t.Python.pins)
	}
	return ending.WithClass(environ.DescribeBackend(ctx, m, t.Identity))
}

// Run implements graph.Task.
func (t *Task) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	outcome, err := t.run(ctx, w)
	return outcome, ending.WithClass(err)
}

func (t *Task) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var python *prepared
	if p := t.Python; p != nil {
		w.Phase(graph.Preparing)
		interpreter, version, err := p.Interpreter(ctx)
		if err != nil {
			return graph.Outcome{}, err
		}
		made, err := p.Environments.prepare(ctx, t.Backend, t.Env, interpreter, version, p.Shared, p.pins)
		if err != nil {
			return graph.Outcome{}, fmt.Errorf("preparing the environment of requires: %w", err)
		}
		python = &made
	}
	outcome, exit, err := t.try(ctx, w, python, false)
	switch {
	case errors.Is(err, ending.ErrUnclear):
		w.Note(err.Error())
	case ending.Doubtful(exit):
		w.Note(ending.Again("the command", exit))
	default:
		return outcome, err
	}
	outcome, _, err = t.try(ctx, w, python, true)
	return outcome, err
}

// try does the work in a session of its own. The exit is that of the command, if it was
// run.
func (t *Task) try(ctx context.Context, w *graph.Work, python *prepared, last bool) (graph.Outcome, backend.Exit, error) {
	r := t.runner(python)
	w.Phase(graph.Workspace)
	spec := r.spec(w, python)
	empty := spec
	for _, in := range t.Inputs {
		tree, ok := w.Input(in.As, tasks.TreeOutput)
		if !ok {
			return graph.Outcome{}, backend.Exit{}, fmt.Errorf("dependency %q has no tree", in.As)
		}
		spec.Inputs = append(spec.Inputs, backend.Input{Path: in.Path, Tree: tree})
	}
	session, err := t.Backend.Open(ctx, spec)
	if session != nil {
		defer func() {
			w.Phase(graph.Closing)
			session.Close(context.WithoutCancel(ctx))
		}()
	}
	if err != nil {
		return graph.Outcome{}, backend.Exit{}, fmt.Errorf("opening a session: %w", err)
	}
	w.Phase(graph.Executing)
	setup := &capped.Buffer{}
	no, err := r.setUp(ctx, w, session, empty, nil, io.MultiWriter(setup, w.Log), last)
	if err != nil {
		return graph.Outcome{}, backend.Exit{}, err
	}
	if no != nil {
		return graph.Outcome{}, backend.Exit{}, errors.New(left{exit: *no, setup: setup.Bytes()}.setupFailed())
	}
	return t.make(ctx, w, session, python)
}

// runner has the parts of a Run that set-up takes.
func (t *Task) runner(python *prepared) *Run {
	r := &Run{Directory: t.Directory, Setup: t.Setup, SetupTimeout: t.SetupTimeout, Env: t.Env, Machine: t.Machine, Backend: t.Backend}
	if python != nil {
		r.within = python.first
	}
	return r
}

// make runs the command in a workspace that is ready, and keeps the outputs.
func (t *Task) make(ctx context.Context, w *graph.Work, session backend.Session, python *prepared) (graph.Outcome, backend.Exit, error) {
	stdout, stderr := &capped.Buffer{}, &capped.Buffer{}
	secrets := t.Env.Masked()
	out, errs := backend.Redact(io.MultiWriter(stdout, w.Log), secrets), backend.Redact(io.MultiWriter(stderr, w.Log), secrets)
	argv := t.Argv
	if python != nil {
		argv = python.first(argv)
	}
	exit, err := session.Exec(ctx, backend.Command{
		Argv: argv, Env: t.Env.Variables(), Dir: t.Directory, Timeout: t.Timeout, Offline: t.Offline, Output: out, Errors: errs, Notes: w.Log,
	})
	out.Close()
	errs.Close()
	if err != nil {
		return graph.Outcome{}, exit, fmt.Errorf("running the command: %w", err)
	}
	if err := session.Verify(ctx); err != nil {
		return graph.Outcome{}, exit, fmt.Errorf("what the command left proves nothing: %w", err)
	}
	if why := failure(exit, t.Timeout, stdout.Bytes(), stderr.Bytes()); why != nil {
		return graph.Outcome{}, exit, why
	}
	for _, verify := range t.VerifyInputs {
		if err := verify(); err != nil {
			return graph.Outcome{}, exit, err
		}
	}
	w.Phase(graph.Storing)
	k := &keeper{Keeper: outputs.Keeper{Ctx: ctx, Store: w.Store}, secrets: secrets}
	for _, o := range t.Outputs {
		kept, err := o.keep(ctx, t, session, w.Store)
		if err != nil {
			return graph.Outcome{}, exit, fmt.Errorf("output %q: %w", o.Name, err)
		}
		k.Outcome.Outputs = append(k.Outcome.Outputs, kept)
	}
	k.Keep(OutputLog, joined(stdout.Bytes(), stderr.Bytes()))
	return k.Outcome, exit, k.Err
}

// failure says how a command ended that did not end well; nil of any other.
func failure(exit backend.Exit, limit time.Duration, stdout, stderr []byte) error {
	var how string
	switch {
	case exit.TimedOut:
		how = fmt.Sprintf("the limit of %v ended the command", limit)
	case exit.OOM:
		how = "the command failed: " + ending.OutOfMemory(exit.OOMLimit)
	case exit.Signal != "":
		how = "the command failed: " + exit.Signal
	case exit.Code != 0:
		how = fmt.Sprintf("the command failed: exit code %d", exit.Code)
	default:
		return nil
	}
	if line := score.Telling(stdout, stderr); line != "" {
		how += ": " + line
	}
	return errors.New(how)
}

// first is a command that runs argv with the environment's programs first in PATH.
func (p *prepared) first(argv []string) []string {
	const script = `VIRTUAL_ENV=$1 PATH=$1/bin:$PATH
export VIRTUAL_ENV PATH
shift
exec "$@"`
	return append([]string{"/bin/sh", "-c", script, "sh", p.shared + "/venv"}, argv...)
}
