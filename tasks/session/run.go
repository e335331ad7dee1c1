package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// Session is the workspace of a node while its task works in it.
type Session struct {
	backend.Session
	plan  Plan
	w     *graph.Work
	last  bool // the work will not be repeated
	ran   bool // programs have run
	left  time.Duration
	setup capped.Buffer
	exit  *backend.Exit // of the program, if it was run
}

// Run calls do with a workspace, and again with a new one if do returns the error of Again. If the machine
// fails in a way that programs might have caused, the error is a graph.CrowdedError. If that happens again
// in an isolated attempt, although the machine was fit before, a submission whose programs ran is refused.
func Run(ctx context.Context, w *graph.Work, p Plan, do func(*Session) (graph.Outcome, error)) (graph.Outcome, error) {
	outcome, err := runOnce(ctx, w, p, false, do)
	var again *againError
	if errors.As(err, &again) {
		w.Note(again.why)
		outcome, err = runOnce(ctx, w, p, true, do)
	}
	var spoiled *spoiledError
	if w.Isolated && p.Submitted && errors.As(err, &spoiled) {
		return RefuseSpoiled(ctx, w.Store, err)
	}
	if err != nil {
		return graph.Outcome{}, err
	}
	return outcome, nil
}

func runOnce(ctx context.Context, w *graph.Work, p Plan, last bool, do func(*Session) (graph.Outcome, error)) (outcome graph.Outcome, err error) {
	err = enter(ctx, w, p, last, func(s *Session) error {
		if w.Isolated {
			if err := cmp.Or(s.Session.Verify(ctx), cache.Room(w.Store)); err != nil { // which no program of the submission caused
				return fmt.Errorf("the machine is not fit: %w", err)
			}
		}
		outcome, err = do(s)
		s.keep(ctx, err)
		return s.blame(err)
	})
	return outcome, err
}

// spoiledError wraps an error that programs of the session might have caused.
type spoiledError struct{ error }

func (e *spoiledError) Unwrap() error { return e.error }

// blame returns err as a spoiledError if programs ran and might have caused it.
func (s *Session) blame(err error) error {
	if s.ran && !exhaustion.IsOwn(err) && (errors.Is(err, backend.ErrSpoiled) || graph.IsCrowded(err)) {
		return &graph.CrowdedError{Err: &spoiledError{err}}
	}
	return err
}

// Enter opens a workspace for the user, and calls use with it. The output of set-up goes to the log of w.
func Enter(ctx context.Context, w *graph.Work, p Plan, use func(*Session) error) error {
	return enter(ctx, w, p, true, use)
}

func enter(ctx context.Context, w *graph.Work, p Plan, last bool, use func(*Session) error) error {
	s := &Session{plan: p, w: w, last: last, left: p.SetupTimeout}
	spec := p.Spec
	spec.Isolated = w.Isolated
	var err error
	s.Session, err = p.Backend.Open(ctx, spec)
	if s.Session != nil {
		defer func() { // closing ends processes; that must happen on a cancelled run, too
			s.Close(context.WithoutCancel(ctx))
		}()
	}
	if err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	return use(s)
}

// againError makes Run repeat the work.
type againError struct{ why string }

func (e *againError) Error() string { return e.why }

// Again returns an error that makes Run repeat the work, or nil if it has already been repeated.
func (s *Session) Again(why string) error {
	if s.last {
		return nil
	}
	return &againError{why}
}

// In returns the command that runs argv in the environment of the plan.
func (s *Session) In(argv []string) []string {
	if s.plan.Within == nil {
		return argv
	}
	return s.plan.Within(s.Dir(), argv)
}

// Place puts inputs into the workspace.
func (s *Session) Place(ctx context.Context, inputs ...backend.Input) error {
	return s.Session.Place(ctx, inputs...)
}

// Setup returns the output of the set-up commands, and the notes of the backend.
func (s *Session) Setup() []byte { return s.setup.Bytes() }

// SetUp runs a set-up command. It returns how the command failed, unless the machine or the problem is at
// fault.
func (s *Session) SetUp(ctx context.Context, step Step) (failed *Failure, err error) {
	masked := s.plan.Env.Masked()
	log := io.MultiWriter(&s.setup, s.w.Log)
	var said capped.Buffer // output of only this command
	fmt.Fprintf(log, "$ %s\n", backend.RedactBytes([]byte(step.Line), masked))
	redacted := backend.Redact(io.MultiWriter(&said, log), masked)
	c := backend.Command{Argv: step.Argv, Env: step.Env, Dir: step.Directory, Timeout: s.left, Online: true, Output: redacted}
	if c.Argv == nil {
		c.Argv = s.In([]string{"/bin/sh", "-c", step.Line})
	}
	if c.Env == nil {
		c.Env = s.plan.Env.Preparing()
	}
	s.ran = true
	exit, err := s.Exec(ctx, c)
	redacted.Close()
	if s.left > 0 { // if no time is left, 0 must not mean no limit
		s.left = max(s.left-time.Duration(exit.Seconds*float64(time.Second)), time.Nanosecond)
	}
	if err != nil {
		return nil, fmt.Errorf("set-up command %q: %w", step.Line, err)
	}
	fmt.Fprintf(log, "[%s]\n", Words("exit", exit))
	if exit.Code == 0 && exit.Signal == "" && !exit.TimedOut {
		return nil, nil
	}
	if step.Explain != nil {
		if err := step.Explain(exit); err != nil {
			return nil, err
		}
	}
	lacks, err := s.Lacks(ctx, step.Line, exit)
	if err = Blame(lacks, err, said.Bytes()); err != nil {
		err = fmt.Errorf("set-up command %q: %w", step.Line, err)
		if errors.Is(err, ErrUnclear) {
			err = s.Again(err.Error())
		}
	}
	if err != nil {
		return nil, err
	}
	failed = &Failure{Exit{Setup: step.Line, Code: exit.Code, Signal: exit.Signal}, said.Bytes()}
	if exit.TimedOut {
		failed.TimedOut, failed.Limit = true, s.plan.SetupTimeout.Seconds()
	}
	return failed, nil
}

// Lacks returns the program of line, or the package index, that the machine lacks after a command ended,
// or "". It probes in a workspace without the submission.
func (s *Session) Lacks(ctx context.Context, line string, exit backend.Exit) (string, error) {
	return s.plan.Machine.Lacks(ctx, Setup{
		Backend: s.plan.Backend, Spec: backend.Spec{Name: s.plan.Spec.Name, Snapshot: s.plan.Spec.Snapshot},
		Env: s.plan.Env.Preparing(), Secrets: s.plan.Env.Masked(), Line: line, Exit: exit, In: s.plan.Within,
	})
}

// Probe runs a program in another workspace, with inputs and without the submission.
func (s *Session) Probe(ctx context.Context, inputs []backend.Input, argv []string) (backend.Exit, error) {
	p := s.plan
	p.Spec = backend.Spec{Name: p.Spec.Name, Snapshot: p.Spec.Snapshot, Inputs: inputs}
	var exit backend.Exit
	err := enter(ctx, s.w, p, true, func(other *Session) (err error) {
		exit, err = other.Exec(ctx, backend.Command{Argv: other.In(argv), Env: p.Env.Variables(), Timeout: time.Minute, Output: s.w.Log, Notes: s.w.Log})
		return err
	})
	return exit, err
}

// Execute runs a program, and then verifies the machine and the inputs.
func (s *Session) Execute(ctx context.Context, p Program) (Printed, error) {
	out, errs := newStream(s), newStream(s)
	c := p.Command
	c.Output, c.Notes = out, io.MultiWriter(&s.setup, s.w.Log)
	if p.Split {
		c.Errors = errs
	}
	s.ran = true
	exit, err := s.Exec(ctx, c)
	printed := Printed{Exit: exit}
	printed.Output, printed.RawOutput = out.end()
	printed.Errors, printed.RawErrors = errs.end()
	if err != nil {
		return printed, fmt.Errorf("running %s: %w", p.Name, err)
	}
	s.exit = &exit
	if p.TrustSuccess && exit.Code == 0 && !exit.TimedOut {
		return printed, s.verifyInputs()
	}
	return printed, s.VerifyAfter(ctx, fmt.Sprintf("%s ended with %s", p.Name, Words("exit code", exit)))
}

// VerifyAfter returns an error if the machine or an input invalidates the result of a program.
func (s *Session) VerifyAfter(ctx context.Context, happened string) error {
	if err := s.Session.Verify(ctx); err != nil {
		return fmt.Errorf("%s, which proves nothing: %w", happened, err)
	}
	return s.verifyInputs()
}

func (s *Session) verifyInputs() error {
	for _, verify := range s.plan.VerifyInputs {
		if err := verify(); err != nil {
			return err
		}
	}
	return nil
}

// stream writes a program's output to the log, with secrets masked, and stores it.
type stream struct {
	io.Writer
	redacted    io.Closer
	masked, raw *capped.Buffer
}

func newStream(s *Session) *stream {
	masked := &capped.Buffer{}
	redacted := backend.Redact(io.MultiWriter(masked, s.w.Log), s.plan.Env.Masked())
	out := &stream{redacted, redacted, masked, masked}
	if len(s.plan.Env.Secrets()) > 0 {
		out.raw = &capped.Buffer{}
		out.Writer = io.MultiWriter(out.raw, redacted)
	}
	return out
}

// end returns all output.
func (s *stream) end() (masked, raw []byte) {
	s.redacted.Close()
	masked = s.masked.Bytes()
	if raw = masked; s.raw != s.masked {
		raw = s.raw.Bytes()
	}
	return masked, raw
}

// Stored returns the stored form of the end of a program with a limit.
func (p *Printed) Stored(limit time.Duration) Exit {
	e := Exit{Code: p.Code, Signal: p.Signal, TimedOut: p.TimedOut, Limit: limit.Seconds()}
	if p.OOM {
		e.MemoryLimit = p.OOMLimit
	}
	return e
}

// Timing returns the stored form of a program's measurements.
func (s *Session) Timing(exit backend.Exit) Timing {
	return Timing{Seconds: exit.Seconds, Isolation: s.plan.Backend.Capabilities().Level()}
}

// keepsRun reports whether to keep the workspace of a run that ended in this way.
func (k Keep) keepsRun(exit *backend.Exit, err error) bool {
	return k == KeepAlways || k == KeepFailed && (err != nil || exit == nil || exit.Code != 0 || exit.TimedOut)
}

// keep keeps the workspace, if the plan requests that, and notes how to enter it. It does not keep the
// workspace of a run that was interrupted, will be repeated, or lost its machine.
func (s *Session) keep(ctx context.Context, err error) {
	keep := s.plan.Backend.Capabilities().Keep
	var again *againError
	if keep == nil || !s.plan.Keep.keepsRun(s.exit, err) || ctx.Err() != nil || WithClass(err) != err || errors.As(err, &again) {
		return
	}
	how, err := keep(context.WithoutCancel(ctx), s.Session)
	switch {
	case err != nil:
		fmt.Fprintln(s.w.Log, err)
		s.w.Note(err.Error())
	case how != "":
		s.w.Note("kept; to enter it: " + how)
	}
}

// Collector opens files of a workspace.
type Collector interface {
	Collect(ctx context.Context, path string) (io.ReadCloser, error)
}

// ErrLarge is returned by Read for a file that is larger than allowed.
var ErrLarge = errors.New("the file is too large")

// Read returns a file of a workspace of at most the given number of bytes.
func Read(ctx context.Context, from Collector, path string, most int64) ([]byte, error) {
	f, err := from.Collect(ctx, path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err = cmp.Or(err, f.Close()); err == nil && int64(len(content)) > most {
		err = ErrLarge
	}
	return content, err
}
