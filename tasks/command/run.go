package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/ending"
	"github.com/fevalgraph/fevalgraph/tasks/environ"
	"github.com/fevalgraph/fevalgraph/tasks/outputs"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Run is the task that runs a problem's program on one submission. Its inputs
// are the trees named by Inputs. Its outputs are OutputExit and OutputTiming,
// always; OutputStdout and OutputStderr when the program ran; OutputFile when
// it left the file; OutputSetup and OutputLog when there were such.
type Run struct {
	Inputs       []string          // dependencies whose trees make the workspace; later ones win
	Own          string            // that of Inputs which no other solution has
	Separate     *separate.Modules // of Own run in a process of their own; nil runs them where they are imported
	Direct       bool              // the program is known to import modules of Own
	Module       string            // of the workspace: what of Own the program would import
	Search       *separate.Search
	Directory    string // of the workspace, where everything runs
	Setup        []Step
	SetupTimeout time.Duration // of all of Setup together; 0 is none
	OwnSetup     bool          // some of Setup is the problem's; in no key
	Argv         []string
	Timeout      time.Duration // of Argv; 0 is none
	Offline      bool          // Argv reaches no network
	GPU          bool          // it needs one
	File         string        // of the workspace, to be kept; "" is none
	Env          environ.List
	Repeat       int
	Rule         score.Rule // of the Score; in no key: see sameScore
	// VerifyInputs are asked after the program whether what it read in place is still
	// what the key says. An error means that it is not.
	VerifyInputs []func() error

	UV *UV // nil is no uv project

	within func(program []string) []string // an environment of a Task; nil is none

	Machine *ending.Machine

	Backend  backend.Backend
	Identity func(context.Context) (backend.Identity, error) // of Backend, memoised by the caller
}

// Step is a set-up command.
type Step struct {
	Line      string // for the shell
	Directory string // of the workspace
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

// Exit is the content of OutputExit: how the program ended or, when Setup is
// set, which set-up command said no, and how.
type Exit struct {
	Setup       string  `json:"setup,omitempty"`
	Code        int     `json:"code"`
	Signal      string  `json:"signal,omitempty"`
	TimedOut    bool    `json:"timed_out,omitempty"`
	Limit       float64 `json:"limit,omitempty"`        // of the program, seconds
	MemoryLimit int64   `json:"memory_limit,omitempty"` // bytes; of the session, when something was killed for it
	NoFile      string  `json:"no_file,omitempty"`      // why there is no OutputFile
	Rewritten   string  `json:"rewritten,omitempty"`    // code of the problem that changed while the program ran
}

// timing is the content of OutputTiming.
type timing struct {
	Seconds   float64 `json:"seconds"`             // of the program
	Isolation string  `json:"isolation,omitempty"` // see backend.Capabilities
	Import    string  `json:"import,omitempty"`    // see verdict.Measurements
}

// Describe implements graph.Task.
func (r *Run) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe", 3) // 3: the problem's files are guarded
	m.Strings("order of inputs", r.Inputs)
	m.String("directory", r.Directory)
	describeSetup(m, r.Setup, r.SetupTimeout)
	m.Strings("argv", r.Argv)
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
	case r.Direct: // which results say
		m.String("import", "direct")
	}
	m.Int("repeat", int64(r.Repeat))
	if len(r.Env.Secrets()) > 0 {
		m.String("secrets are masked in", "texts") // not in numbers, as they were
	}
	r.Env.Describe(m)
	return ending.WithClass(environ.DescribeBackend(ctx, m, r.Identity))
}

// describeSetup adds the commands that run before a program, and their limit.
func describeSetup(m *graph.Manifest, steps []Step, limit time.Duration) {
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
	return outcome, ending.WithClass(err)
}

func (r *Run) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	if gpu := r.Backend.Capabilities().GPU; r.GPU && gpu != nil {
		if err := gpu(ctx); err != nil {
			return graph.Outcome{}, err
		}
	}
	var uv *prepared
	if r.UV != nil {
		w.Phase(graph.Preparing)
		p, err := r.UV.prepare(ctx, w, r.Backend, r.Env)
		if err != nil {
			return graph.Outcome{}, err
		}
		uv = &p
	}
	outcome, err := r.try(ctx, w, uv, false)
	if errors.Is(err, ending.ErrUnclear) {
		w.Note(err.Error())
		outcome, err = r.try(ctx, w, uv, true)
	}
	return outcome, err
}

// try does the work in a session of its own. What is unclear is an error but the last time.
// However the program ends, the submission may have ended it, so it does not run once more: one
// that is right by chance must not have another chance for that.
func (r *Run) try(ctx context.Context, w *graph.Work, uv *prepared, last bool) (graph.Outcome, error) {
	k := &keeper{Keeper: outputs.Keeper{Ctx: ctx, Store: w.Store}, secrets: r.Env.Secrets()}
	setup := &capped.Buffer{}
	w.Phase(graph.Workspace)
	code, data, err := r.guarded(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	session, err := r.open(ctx, w, uv, r.readOnly(code, data))
	if session != nil {
		// Closing ends processes; that must happen on a cancelled run, too.
		defer func() {
			w.Phase(graph.Closing)
			session.Close(context.WithoutCancel(ctx))
		}()
	}
	if err != nil {
		return graph.Outcome{}, err
	}
	w.Phase(graph.Executing)
	no, err := r.setUp(ctx, w, session, r.spec(w, uv), uv, io.MultiWriter(setup, w.Log), last)
	if err != nil {
		return graph.Outcome{}, err
	}
	if no != nil {
		if err := session.Verify(ctx); err != nil {
			return graph.Outcome{}, fmt.Errorf("the failure of set-up proves nothing: %w", err)
		}
		k.JSON(OutputExit, *no)
		k.JSON(OutputTiming, timing{Isolation: r.Backend.Capabilities().Level()})
		k.Keep(OutputSetup, setup.Bytes())
		k.Keep(OutputLog, setup.Bytes())
		return k.Outcome, k.Err
	}
	err = r.grade(ctx, w, session, uv, k, code)
	if setup := setup.Bytes(); len(setup) > 0 && err == nil {
		k.Keep(OutputSetup, setup)
	}
	return k.Outcome, cmp.Or(err, k.Err)
}

// grade runs the program in a workspace that is ready, and keeps what it leaves. A
// program that ends well can still have been kept from its work, and print a score of
// 0, so the machine is asked each time.
func (r *Run) grade(ctx context.Context, w *graph.Work, session backend.Session, uv *prepared, k *keeper, code []cache.Entry) error {
	if err := r.clear(ctx, session); err != nil {
		return err
	}
	if len(r.Setup) > 0 || uv != nil { // which may change code, honestly
		var err error
		if code, err = unchanged(ctx, session, code); err != nil {
			return err
		}
	}
	env, err := r.environment(ctx, session)
	if err != nil {
		return err
	}
	printed, stdout, stderr := &capped.Buffer{}, &capped.Buffer{}, &capped.Buffer{}
	unmasked, unmaskedErrors := &capped.Buffer{}, &capped.Buffer{}
	out := backend.Redact(io.MultiWriter(stdout, w.Log), r.Env.Masked())
	errs := backend.Redact(io.MultiWriter(stderr, w.Log), r.Env.Masked())
	exit, err := session.Exec(ctx, backend.Command{
		Argv: r.argv(session, uv, r.Argv), Env: env, Dir: r.Directory, Timeout: r.Timeout, Offline: r.Offline,
		Output: io.MultiWriter(unmasked, out), Errors: io.MultiWriter(unmaskedErrors, errs), Notes: w.Log,
	})
	out.Close()
	errs.Close()
	w.Phase(graph.Storing)
	if err != nil {
		return r.startError(err)
	}
	if err := session.Verify(ctx); err != nil {
		return fmt.Errorf("what the program left proves nothing: %w", err)
	}
	if r.Separate != nil {
		masked := backend.Redact(printed, k.secrets)
		err := r.Separate.End(ctx, session, masked)
		masked.Close()
		if err != nil {
			return err
		}
	}
	for _, verify := range r.VerifyInputs {
		if err := verify(); err != nil {
			return err
		}
	}
	if err := r.scriptError(ctx, w, attempt{r.line(), r.Directory, len(r.Setup) == 0, exit, r.spec(w, uv), uv}); err != nil {
		return err
	}
	same, err := unchanged(ctx, session, code)
	if err != nil {
		return err
	}
	facts := Exit{Code: exit.Code, Signal: exit.Signal, TimedOut: exit.TimedOut, Limit: r.Timeout.Seconds()}
	if exit.OOM {
		facts.MemoryLimit = exit.OOMLimit
	}
	for _, e := range code {
		if e.Digest.Size <= maxCode && !slices.Contains(same, e) && facts.Rewritten == "" {
			facts.Rewritten = e.Path
		}
	}
	if facts.NoFile, err = r.collect(ctx, session, k); err != nil {
		return err
	}
	if len(k.secrets) > 0 {
		kept := score.Artifacts{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), File: k.masked, NoFile: facts.NoFile, Code: facts.Code, Signal: facts.Signal}
		left := kept
		left.Stdout, left.Stderr, left.File = unmasked.Bytes(), unmaskedErrors.Bytes(), k.file
		if err := r.sameScore(left, kept); err != nil {
			return err
		}
	}
	k.JSON(OutputExit, facts)
	how, err := r.imports(ctx, w)
	if err != nil {
		return err
	}
	k.JSON(OutputTiming, timing{Seconds: exit.Seconds, Isolation: r.Backend.Capabilities().Level(), Import: how})
	k.Keep(OutputStdout, stdout.Bytes())
	k.Keep(OutputStderr, stderr.Bytes())
	k.Keep(OutputLog, joined(joined(stdout.Bytes(), stderr.Bytes()), printed.Bytes()))
	if exit.TimedOut {
		k.Outcome.Class, k.Outcome.Message = timedOut, limitMessage(r.Timeout)
	}
	return nil
}

// environment makes the session ready for the program, and returns the program's variables.
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
				return "", fmt.Errorf("looking for what imports the submission: %w", err)
			}
			if found {
				return verdict.ImportInProcess, nil
			}
		}
	}
	return "", nil
}

func limitMessage(limit time.Duration) string {
	return fmt.Sprintf("the limit of %v ended the program", limit)
}

// joined is what was printed on both, standard output first.
func joined(stdout, stderr []byte) []byte {
	if len(stderr) > 0 && len(stdout) > 0 && stdout[len(stdout)-1] != '\n' {
		stdout = append(stdout, '\n')
	}
	return append(stdout, stderr...)
}

// spec is an empty workspace.
func (r *Run) spec(w *graph.Work, uv *prepared) backend.Spec {
	spec := backend.Spec{Name: w.Addr}
	if uv != nil {
		spec.Snapshot = uv.snapshot
	}
	return spec
}

// open makes the workspace. A session is returned also with an error that came
// later; the caller closes it.
func (r *Run) open(ctx context.Context, w *graph.Work, uv *prepared, readOnly []string) (backend.Session, error) {
	spec := r.spec(w, uv)
	spec.ReadOnly = readOnly
	for _, name := range r.Inputs {
		tree, ok := w.Input(name, tasks.TreeOutput)
		if !ok {
			return nil, fmt.Errorf("dependency %q has no tree", name)
		}
		if name == r.Own && r.Separate != nil {
			inputs, err := r.Separate.Inputs(ctx, w.Store, tree)
			if err != nil {
				return nil, err
			}
			spec.Inputs = append(spec.Inputs, inputs...)
			continue
		}
		spec.Inputs = append(spec.Inputs, backend.Input{Path: ".", Tree: tree})
	}
	session, err := r.Backend.Open(ctx, spec)
	if err != nil {
		return session, fmt.Errorf("opening a session: %w", err)
	}
	return session, nil
}

// setUp installs the uv project and runs the set-up commands. The exit is that
// of one that failed or took too long; it is an error when the machine lacks what that
// takes. empty is a session without the submission.
func (r *Run) setUp(ctx context.Context, w *graph.Work, session backend.Session, empty backend.Spec, uv *prepared, out io.Writer, last bool) (*Exit, error) {
	left := r.SetupTimeout
	run := func(line, dir string, argv []string) (*Exit, error) {
		var said capped.Buffer
		fmt.Fprintf(out, "$ %s\n", backend.RedactBytes([]byte(line), r.Env.Masked()))
		redacted := backend.Redact(io.MultiWriter(&said, out), r.Env.Masked())
		exit, err := session.Exec(ctx, backend.Command{
			Argv: argv, Env: r.Env.Preparing(), Dir: dir, Timeout: left, Online: true, Output: redacted,
		})
		if left > 0 { // one that used all of it leaves no time, which is not the same as no limit
			left = max(left-time.Duration(exit.Seconds*float64(time.Second)), time.Nanosecond)
		}
		redacted.Close()
		if err != nil {
			return nil, fmt.Errorf("set-up command %q: %w", line, err)
		}
		fmt.Fprintf(out, "[%s]\n", ending.Words("exit", exit))
		if exit.Code == 0 && exit.Signal == "" && !exit.TimedOut {
			return nil, nil
		}
		a := attempt{line, dir, len(r.Setup) > 0 && line == r.Setup[0].Line, exit, empty, uv}
		if err := r.scriptError(ctx, w, a); err != nil {
			return nil, err
		}
		lacks, err := r.lacks(ctx, a, line)
		if err = ending.Blame(lacks, err, said.Bytes(), last); err != nil {
			return nil, fmt.Errorf("set-up command %q: %w", line, err)
		}
		no := &Exit{Setup: line, Code: exit.Code, Signal: exit.Signal}
		if exit.TimedOut {
			no.TimedOut, no.Limit = true, r.SetupTimeout.Seconds()
		}
		return no, nil
	}
	if uv != nil {
		no, err := run("uv pip install --editable "+strings.Join(uv.packages, " "), ".", append([]string{"/bin/sh", "-c", install, "sh", uv.python, uv.shared}, uv.packages...))
		if no != nil || err != nil {
			return no, err
		}
	}
	for _, step := range r.Setup {
		no, err := run(step.Line, step.Directory, r.argv(session, uv, []string{"/bin/sh", "-c", step.Line}))
		if no != nil || err != nil {
			return no, err
		}
	}
	return nil, nil
}

// argv is a program in the uv project's environment, if there is one.
func (r *Run) argv(session backend.Session, uv *prepared, program []string) []string {
	switch {
	case r.within != nil:
		return r.within(program)
	case uv == nil:
		return program
	}
	return uv.in(session, program)
}

// startError says why the program was not started. One that the problem brings
// is the problem's to mend, one that is looked up the machine's.
func (r *Run) startError(err error) error {
	var tool *backend.ToolError
	if errors.As(err, &tool) && tool.Tool == r.Argv[0] && strings.Contains(tool.Tool, "/") && !strings.HasPrefix(tool.Tool, "/") {
		return &graph.InputError{Err: fmt.Errorf("starting the problem's program: %w", tool)}
	}
	return fmt.Errorf("running the program: %w", err)
}
