package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Task is the task that runs a command to produce outputs. It stores either all outputs, complete, or
// none. If the command or a set-up command fails, or an output is missing, the error is a
// graph.FailedError.
type Task struct {
	Inputs       []TaskInput // later ones win
	Directory    string      // in the workspace: working directory
	Setup        []session.Step
	SetupTimeout time.Duration // of all of Setup together; 0 means no limit
	Argv         []string
	Timeout      time.Duration // of Argv; 0 means no limit
	Offline      bool          // Argv has no network
	Env          session.Environment
	Outputs      []TaskOutput
	VerifyInputs []func() error // as of Run

	Python *Packages // nil means none

	Machine  *session.Machine
	Keep     session.Keep // in no key
	Backend  backend.Backend
	Identity func(context.Context) (backend.Identity, error) // of Backend, cached by the caller
}

// TaskInput is a dependency with a tree, and its path in the workspace.
type TaskInput struct{ As, Path string }

// Packages contains Python packages of a lock file, for an environment that is first in PATH.
type Packages struct {
	Pins         func(context.Context) ([]string, error) // name==version with hashes
	Shared       string                                  // directory for environments, as seen by commands of the backend
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
	m.Strings("command", t.Argv)
	m.String("timeout", t.Timeout.String())
	m.Bool("offline", t.Offline)
	for _, o := range t.Outputs {
		m.String("output "+o.Name, o.Kind+" "+o.Path)
	}
	t.Env.Describe(m)
	if t.Python != nil {
		_, version, err := t.Python.Interpreter(ctx)
		if err != nil {
			return session.WithClass(err)
		}
		m.String("python", version)
		if t.Python.pins, err = t.Python.Pins(ctx); err != nil {
			return session.WithClass(err)
		}
		m.Strings("requirements", t.Python.pins)
	}
	return session.WithClass(session.DescribeBackend(ctx, m, t.Identity))
}

// Run implements graph.Task.
func (t *Task) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	outcome, err := t.run(ctx, w)
	return outcome, session.WithClass(err)
}

func (t *Task) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	plan, err := t.plan(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	return session.Run(ctx, w, plan, func(s *session.Session) (graph.Outcome, error) {
		if ended, err := t.setUp(ctx, s); cmp.Or(err, ended) != nil {
			return graph.Outcome{}, cmp.Or(err, ended)
		}
		return t.make(ctx, w, s)
	})
}

// Enter opens the workspace of the task with its exact inputs, sets it up, and calls use with it, with the
// task's program, and with a function to run other programs in the same way. Afterwards it closes the
// workspace.
func (t *Task) Enter(ctx context.Context, w *graph.Work, progress io.Writer, use func(s backend.Session, argv []string, command func(argv []string) backend.Command) error) error {
	plan, err := t.plan(ctx, w)
	if err != nil {
		return err
	}
	w.Log = progress
	return session.Enter(ctx, w, plan, func(s *session.Session) error {
		// A set-up command that failed has printed why, for the user to examine.
		if _, err := t.setUp(ctx, s); err != nil {
			return err
		}
		return use(s, t.Argv, func(argv []string) backend.Command {
			return backend.Command{Argv: s.In(argv), Env: t.Env.Variables(), Dir: t.Directory, Offline: t.Offline, Notes: progress}
		})
	})
}

// plan prepares packages and returns the description of the task's session.
func (t *Task) plan(ctx context.Context, w *graph.Work) (session.Plan, error) {
	var python *prepared
	if p := t.Python; p != nil {
		interpreter, version, err := p.Interpreter(ctx)
		if err != nil {
			return session.Plan{}, err
		}
		made, err := p.Environments.prepare(ctx, t.Backend, t.Env, interpreter, version, p.Shared, p.pins)
		if err != nil {
			return session.Plan{}, fmt.Errorf("preparing the environment of requires: %w", err)
		}
		python = &made
	}
	plan := session.Plan{
		Backend: t.Backend, Spec: backend.Spec{Name: w.Addr}, Env: t.Env, Machine: t.Machine, SetupTimeout: t.SetupTimeout, VerifyInputs: t.VerifyInputs, Keep: t.Keep,
	}
	if python != nil {
		plan.Spec.Snapshot, plan.Within = python.snapshot, python.first
	}
	for _, in := range t.Inputs {
		tree, ok := w.Input(in.As, tasks.TreeOutput)
		if !ok {
			return session.Plan{}, fmt.Errorf("dependency %q has no tree", in.As)
		}
		plan.Spec.Inputs = append(plan.Spec.Inputs, backend.Input{Path: in.Path, Tree: tree})
	}
	return plan, nil
}

// setUp runs the set-up commands, up to the first failure, which it returns as ended.
func (t *Task) setUp(ctx context.Context, s *session.Session) (ended, err error) {
	for _, step := range t.Setup {
		no, err := s.SetUp(ctx, step)
		if err != nil {
			return nil, err
		}
		if no != nil {
			return failed("%s", runOutput{exit: Exit{Exit: no.Exit}, setup: s.Setup()}.setupFailed()), nil
		}
	}
	return nil, nil
}

// make runs the command in a prepared workspace, and stores the outputs.
func (t *Task) make(ctx context.Context, w *graph.Work, s *session.Session) (graph.Outcome, error) {
	ran, err := s.Execute(ctx, session.Program{
		Name: "the command", Split: true,
		Command: backend.Command{Argv: s.In(t.Argv), Env: t.Env.Variables(), Dir: t.Directory, Timeout: t.Timeout, Offline: t.Offline},
	})
	if err == nil && session.Doubtful(ran.Exit) {
		err = s.Again(session.Again("the command", ran.Exit))
	}
	if err == nil {
		err = failure(ran.Exit, t.Timeout, ran.Output, ran.Errors)
	}
	if err != nil {
		return graph.Outcome{}, err
	}
	k := &session.Keeper{Ctx: ctx, Store: w.Store}
	for _, o := range t.Outputs {
		kept, err := o.keep(ctx, t, s, w.Store)
		if err != nil {
			return graph.Outcome{}, fmt.Errorf("output %q: %w", o.Name, err)
		}
		k.Outcome.Outputs = append(k.Outcome.Outputs, kept)
	}
	k.Keep(OutputLog, joinedOutputs(ran.Output, ran.Errors))
	return k.Outcome, k.Err
}

// failure returns how a command failed, or nil if it succeeded.
func failure(exit backend.Exit, limit time.Duration, stdout, stderr []byte) error {
	var how string
	switch {
	case exit.TimedOut:
		how = fmt.Sprintf("the command exceeded the limit of %v", limit)
	case exit.OOM:
		how = session.OutOfMemory(exit.OOMLimit)
	case exit.Signal != "":
		how = exit.Signal
	case exit.Code != 0:
		how = fmt.Sprintf("exit code %d", exit.Code)
	default:
		return nil
	}
	if line := score.Telling(stdout, stderr); line != "" {
		how += ": " + line
	}
	return failed("%s", how)
}

// first returns a command that runs argv with the environment's programs first in PATH.
func (p *prepared) first(_ string, argv []string) []string {
	const script = `VIRTUAL_ENV=$1 PATH=$1/bin:$PATH
export VIRTUAL_ENV PATH
shift
exec "$@"`
	return append([]string{"/bin/sh", "-c", script, "sh", p.shared + "/venv"}, argv...)
}
