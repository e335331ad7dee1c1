package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Run is the task that runs a problem's program on a submission. Its inputs are the trees named by Inputs.
// Its outputs are OutputExit and OutputTiming; OutputStdout and OutputStderr if the program ran;
// OutputFile if it wrote the file; and OutputSetup and OutputLog if they are not empty.
type Run struct {
	Inputs       []string          // dependencies whose trees form the workspace; later ones win
	Own          string            // the one in Inputs with the solution
	Separate     *separate.Modules // modules of Own to run in a separate process; nil runs them in the importing process
	Direct       bool              // the program is known to import modules of Own
	Module       string            // in the workspace: module of Own that the program would import
	Search       *separate.Search
	Directory    string // in the workspace: working directory
	Setup        []session.Step
	SetupTimeout time.Duration // of all of Setup together; 0 means no limit
	OwnSetup     bool          // Setup includes commands of the problem; in no key
	Argv         []string
	Timeout      time.Duration // of Argv; 0 means no limit
	Offline      bool          // Argv has no network
	GPU          bool          // it needs one
	File         string        // in the workspace: file to store; "" means none
	Env          session.Environment
	Repeat       int
	Rule         score.Rule // rule of the Score; in no key: see sameScore
	// VerifyInputs are called after the program. They return an error if files that it read in place no longer
	// have the content in the key.
	VerifyInputs []func() error

	UV *UV // nil without a uv project

	Machine *session.Machine
	Keep    session.Keep // in no key

	Backend  backend.Backend
	Identity func(context.Context) (backend.Identity, error) // of Backend, cached by the caller
}

// The outputs of Run.
const (
	OutputExit   = "exit"
	OutputTiming = "timing"
	OutputStdout = "stdout"
	OutputStderr = "stderr"
	OutputFile   = "file"
	OutputSetup  = "setup"
	OutputLog    = graph.LogOutput
)

// Exit is the content of OutputExit: how the program ended, or which set-up command failed, and how.
type Exit struct {
	session.Exit
	NoFile    string `json:"no_file,omitempty"`   // why OutputFile is missing
	Rewritten string `json:"rewritten,omitempty"` // code of the problem that changed while the program ran
}

// Describe implements graph.Task.
func (r *Run) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe", 3) // 3: the problem's files are guarded
	m.Strings("order of inputs", r.Inputs)
	m.String("directory", r.Directory)
	describeSetup(m, r.Setup, r.SetupTimeout)
	m.Strings("command", r.Argv)
	m.String("timeout", r.Timeout.String())
	m.Bool("offline", r.Offline)
	m.Bool("gpu", r.GPU)
	if r.UV != nil {
		m.String("uv project", r.UV.Project)
	}
	m.String("file", r.File)
	switch {
	case r.Separate != nil:
		r.Separate.Describe(m)
	case r.Direct: // results contain it
		m.String("import", "direct")
	}
	m.Int("repeat", int64(r.Repeat))
	if len(r.Env.Secrets()) > 0 {
		m.String("secrets are masked in", "texts") // not as numbers, for compatibility with earlier keys
	}
	r.Env.Describe(m)
	return session.WithClass(session.DescribeBackend(ctx, m, r.Identity))
}

// describeSetup adds the commands that run before a program, and their limit.
func describeSetup(m *graph.Manifest, steps []session.Step, limit time.Duration) {
	for i, s := range steps {
		m.String(fmt.Sprintf("setup %d", i+1), s.Line)
		m.String(fmt.Sprintf("directory of setup %d", i+1), s.Directory)
	}
	if len(steps) > 0 {
		m.String("setup_timeout", limit.String())
	}
}

// Run implements graph.Task.
func (r *Run) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	outcome, err := r.run(ctx, w)
	return outcome, session.WithClass(err)
}

func (r *Run) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	if gpu := r.Backend.Capabilities().GPU; r.GPU && gpu != nil {
		if err := gpu(ctx); err != nil {
			return graph.Outcome{}, err
		}
	}
	uv, plan, err := r.plan(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	code, data, err := r.guardedFiles(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	plan.Spec.ReadOnly = r.readOnly(code, data)
	// The submission might have ended the program in any way, so it does not run again: a submission that is
	// correct by chance must not have another chance.
	return session.Run(ctx, w, plan, func(s *session.Session) (graph.Outcome, error) {
		k := &session.Keeper{Ctx: ctx, Store: w.Store}
		no, err := r.setUp(ctx, w, s, uv)
		switch {
		case err != nil:
			return graph.Outcome{}, err
		case no != nil:
			if err := s.VerifyAfter(ctx, "set-up failed"); err != nil {
				return graph.Outcome{}, err
			}
			k.JSON(OutputExit, Exit{Exit: no.Exit})
			k.JSON(OutputTiming, s.Timing(backend.Exit{}))
			k.Keep(OutputLog, s.Setup())
		default:
			err = r.grade(ctx, w, s, uv, k, code)
		}
		if setup := s.Setup(); len(setup) > 0 {
			k.Keep(OutputSetup, setup)
		}
		return k.Outcome, cmp.Or(err, k.Err)
	})
}

// plan prepares the uv project, if any, and returns the description of the workspace.
func (r *Run) plan(ctx context.Context, w *graph.Work) (*prepared, session.Plan, error) {
	p := session.Plan{
		Backend: r.Backend, Spec: backend.Spec{Name: w.Addr}, Env: r.Env, Machine: r.Machine, SetupTimeout: r.SetupTimeout, VerifyInputs: r.VerifyInputs, Keep: r.Keep, Submitted: true,
	}
	for _, name := range r.Inputs {
		tree, ok := w.Input(name, tasks.TreeOutput)
		if !ok {
			return nil, p, fmt.Errorf("dependency %q has no tree", name)
		}
		if name == r.Own && r.Separate != nil {
			inputs, err := r.Separate.Inputs(ctx, w.Store, tree)
			if err != nil {
				return nil, p, err
			}
			p.Spec.Inputs = append(p.Spec.Inputs, inputs...)
			continue
		}
		p.Spec.Inputs = append(p.Spec.Inputs, backend.Input{Path: ".", Tree: tree})
	}
	if r.UV == nil {
		return nil, p, nil
	}
	uv, err := r.UV.prepare(ctx, w, r.Backend, r.Env)
	p.Spec.Snapshot, p.Within = uv.snapshot, uv.wrap
	return &uv, p, err
}

// grade runs the program in a prepared workspace, and stores its outputs. Even a successful program may
// have been hindered by the machine, and print a score of 0, so the machine is verified each time.
func (r *Run) grade(ctx context.Context, w *graph.Work, s *session.Session, uv *prepared, k *session.Keeper, code []cache.Entry) error {
	if err := r.clear(ctx, s); err != nil {
		return err
	}
	if len(r.Setup) > 0 || uv != nil { // which can change code legitimately
		var err error
		if code, err = findUnchanged(ctx, s, code); err != nil {
			return err
		}
	}
	env, err := r.environment(ctx, s)
	if err != nil {
		return err
	}
	ran, err := s.Execute(ctx, session.Program{
		Name: "the program", Split: true,
		Command: backend.Command{Argv: s.In(r.Argv), Env: env, Dir: r.Directory, Timeout: r.Timeout, Offline: r.Offline},
	})
	if err != nil {
		return r.startError(err)
	}
	printed := &capped.Buffer{}
	if r.Separate != nil {
		if err := r.Separate.Usable(ctx, s, s.Probe); err != nil {
			return err
		}
		masked := backend.Redact(printed, r.Env.Secrets())
		err := r.Separate.Printed(ctx, s, masked)
		masked.Close()
		if err != nil {
			return err
		}
	}
	if err := r.scriptError(ctx, w, s, attempt{r.line(), r.Directory, len(r.Setup) == 0, ran.Exit}); err != nil {
		return err
	}
	facts := Exit{Exit: ran.Stored(r.Timeout)}
	if facts.Rewritten, err = firstRewritten(ctx, s, code); err != nil {
		return err
	}
	kept := score.Artifacts{Stdout: ran.Output, Stderr: ran.Errors, Code: ran.Code, Signal: ran.Signal}
	raw := kept
	raw.Stdout, raw.Stderr = ran.RawOutput, ran.RawErrors
	if raw.File, facts.NoFile, err = r.collect(ctx, s); err != nil {
		return err
	}
	raw.NoFile, kept.NoFile = facts.NoFile, facts.NoFile
	if raw.File != nil {
		kept.File = backend.RedactJSON(raw.File, r.Env.Secrets())
		k.Keep(OutputFile, kept.File)
	}
	if len(r.Env.Secrets()) > 0 {
		if err := r.sameScore(raw, kept); err != nil {
			return err
		}
	}
	k.JSON(OutputExit, facts)
	took := s.Timing(ran.Exit)
	if took.Import, err = r.imports(ctx, w); err != nil {
		return err
	}
	k.JSON(OutputTiming, took)
	k.Keep(OutputStdout, ran.Output)
	k.Keep(OutputStderr, ran.Errors)
	k.Keep(OutputLog, joinedOutputs(joinedOutputs(ran.Output, ran.Errors), printed.Bytes()))
	if ran.TimedOut {
		k.Outcome.Class, k.Outcome.Message = cache.ClassTimeout, limitMessage(r.Timeout)
	}
	return nil
}

// environment prepares the session for the program, and returns the program's variables.
func (r *Run) environment(ctx context.Context, session backend.Session) ([]string, error) {
	env := r.Env.Variables()
	if r.Separate == nil {
		return env, nil
	}
	more, err := r.Separate.Begin(ctx, session, r.Env)
	return append(env, more...), err
}

// imports returns how the program runs the submission: see verdict.Measurements.
func (r *Run) imports(ctx context.Context, w *graph.Work) (string, error) {
	switch {
	case r.Separate != nil:
		return verdict.ImportSeparate, nil
	case r.Direct:
		return verdict.ImportInProcess, nil
	case r.Search == nil:
		return "", nil
	}
	for _, name := range r.Inputs {
		if tree, ok := w.Input(name, tasks.TreeOutput); ok && name != r.Own {
			found, err := r.Search.Imports(ctx, w.Store, tree, r.Module)
			if err != nil {
				return "", fmt.Errorf("looking up the importer of the submission: %w", err)
			}
			if found {
				return verdict.ImportInProcess, nil
			}
		}
	}
	return "", nil
}

func limitMessage(limit time.Duration) string {
	return fmt.Sprintf("the program exceeded the limit of %v", limit)
}

// joinedOutputs returns both outputs, standard output first.
func joinedOutputs(stdout, stderr []byte) []byte {
	if len(stderr) > 0 && len(stdout) > 0 && stdout[len(stdout)-1] != '\n' {
		stdout = append(stdout, '\n')
	}
	return append(stdout, stderr...)
}

// setUp installs the uv project and runs the set-up commands. It returns the failure of the first command
// that failed.
func (r *Run) setUp(ctx context.Context, w *graph.Work, s *session.Session, uv *prepared) (*session.Failure, error) {
	var steps []session.Step
	if uv != nil {
		steps = append(steps, session.Step{
			Line: "uv pip install --editable " + strings.Join(uv.packages, " "), Directory: ".",
			Argv: append([]string{"/bin/sh", "-c", install, "sh", uv.python, uv.shared}, uv.packages...),
		})
	}
	for i, step := range slices.Concat(steps, r.Setup) {
		step.Explain = func(exit backend.Exit) error {
			return r.scriptError(ctx, w, s, attempt{step.Line, step.Directory, i == len(steps), exit})
		}
		if no, err := s.SetUp(ctx, step); no != nil || err != nil {
			return no, err
		}
	}
	return nil, nil
}

// startError returns the error of a program that was not started, or did not end. The problem is at fault if
// it brings the program, and the machine if the program is looked up.
func (r *Run) startError(err error) error {
	var tool *backend.ToolError
	if errors.As(err, &tool) && tool.Tool == r.Argv[0] && strings.Contains(tool.Tool, "/") && !strings.HasPrefix(tool.Tool, "/") {
		return &graph.InputError{Err: fmt.Errorf("starting the problem's program: %w", tool)}
	}
	return err
}
