package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// CheckerLimits returns the limits of a checker on a case.
func CheckerLimits(cpu time.Duration, memory int64) backend.Limits {
	return backend.Limits{CPU: cpu, Clock: 2 * cpu, Memory: memory, Processes: toolProcesses, Stdout: toolOutput, Stderr: toolOutput}
}

const (
	toolProcesses = 128
	toolOutput    = 1 << 20
)

// Names of the files that a checker or interactor gets.
const (
	fileIn  = "in.txt"
	fileOut = "out.txt"
	fileAns = "ans.txt"
)

// Check is the task that runs a checker on the output of a Run. A solution that failed has its verdict
// without a checker.
type Check struct {
	Rules  Rules
	Limits backend.Limits // of the checker
	Box    *Box
}

// Describe implements graph.Task.
func (c *Check) Describe(ctx context.Context, m *graph.Manifest) error {
	// 2: with a log; 3: quoted ratios do not count; 4: decimal commas and _pc are not ratios; 5: an output
	// without room for it is too long; 6: all of a message is read, and the lowest ratio counts;
	// 7: no dialect has an empty message about the checker
	m.Int("recipe", 7)
	m.String("rules", c.Rules.Name)
	describeLimits(m, "", c.Limits)
	return c.Box.describe(ctx, m)
}

// Run implements graph.Task.
func (c *Check) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	return runBlamed(ctx, w, c.work)
}

func (c *Check) work(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var log transcript
	v, err := c.check(ctx, w, &log)
	if err != nil {
		w.Log.Write(log)
		return graph.Outcome{}, err
	}
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	k.JSON(OutputVerdict, v)
	k.Keep(graph.LogOutput, log)
	return k.Outcome, k.Err
}

func (c *Check) check(ctx context.Context, w *graph.Work, log *transcript) (Verdict, error) {
	var ran end
	if err := session.ReadInputJSON(ctx, w, FromRun, OutputExit, &ran); err != nil {
		return Verdict{}, err
	}
	log.add("solution", nil, ran)
	if !ran.clean() {
		verdict, why := ran.blame()
		if c.Rules.Dialect != nil {
			said, err := contestant(ctx, w)
			return c.Rules.read(verdict, false, said, ran.signal()), err
		}
		return failedWith(verdict, why), nil
	}
	e, err := c.runChecker(ctx, w)
	// The problem's files are the same for every solution, and most solutions print little.
	d, _ := w.Input(FromRun, OutputStdout)
	large := d.Size >= 1<<20
	if large && graph.IsCrowded(err) {
		err = backend.Spoiled(err)
	}
	if errors.Is(err, backend.ErrNoRoom) {
		if large {
			return failedWith(OutputLimit, fmt.Sprintf("the checker's directory has no room for the %d bytes that it printed", d.Size)), nil
		}
		return Verdict{}, &graph.InputError{Err: err}
	}
	if err != nil {
		return Verdict{}, err
	}
	said := e.Stderr
	if e.Stdout.Size > 0 {
		if said, err = cache.ReadBlob(ctx, w.Store, e.Stdout, toolOutput); err != nil {
			return Verdict{}, fmt.Errorf("reading the output of the checker: %w", err)
		}
	}
	log.add("checker", said, endOf(e))
	if c.Rules.Dialect != nil {
		return c.Rules.readTool(endOf(e), said), nil
	}
	return judged(endOf(e), said)
}

func (c *Check) runChecker(ctx context.Context, w *graph.Work) (backend.Ending, error) {
	p := backend.Program{Argv: []string{"chk", fileIn, fileOut, fileAns}, Limits: c.Limits}
	for _, f := range []struct{ as, output, name string }{
		{FromTool, OutputProgram, "chk"}, {FromTestData, OutputIn, fileIn}, {FromRun, OutputStdout, fileOut}, {FromTestData, OutputAns, fileAns},
	} {
		d, err := input(w, f.as, f.output)
		if err != nil {
			return backend.Ending{}, err
		}
		if f.name == fileOut && c.Rules.Dialect != nil {
			if d, err = c.Rules.output(ctx, w.Store, d); err != nil {
				return backend.Ending{}, err
			}
		}
		p.Files = append(p.Files, backend.File{Path: f.name, Digest: d})
	}
	return c.Box.runSettled(ctx, p)
}

// output returns a solution's output in the dialect's form for checkers.
func (r Rules) output(ctx context.Context, store cache.Store, d cache.Digest) (cache.Digest, error) {
	content, err := cache.ReadBlob(ctx, store, d, -1)
	if err != nil {
		return d, fmt.Errorf("reading the output of the solution: %w", err)
	}
	if read := r.Dialect.Output(content); !bytes.Equal(read, content) {
		return cache.PutBytes(ctx, store, read)
	}
	return d, nil
}

// contestant returns the stored output of a failed solution.
func contestant(ctx context.Context, w *graph.Work) (string, error) {
	d, ok := w.Input(FromRun, graph.LogOutput)
	if !ok {
		return "", nil
	}
	content, err := cache.ReadBlob(ctx, w.Store, d, maxStderr)
	if err != nil {
		return "", fmt.Errorf("reading the output of the solution: %w", err)
	}
	return string(content), nil
}

// signal returns the name of the signal that ended a program, or "".
func (e end) signal() string {
	if e.Status == backend.Signalled {
		return e.Signal
	}
	return ""
}

// failedWith returns a verdict with a ratio of 0.
func failedWith(verdict, why string) Verdict {
	ratio, unbounded := 0.0, 0.0
	return Verdict{Verdict: verdict, Ratio: &ratio, RatioUnbounded: &unbounded, Message: why}
}

// wordFor returns the verdict for the exit code of a checker or interactor, regardless of its output.
func wordFor(e end) string {
	if !e.usable() {
		return CheckerFailed
	}
	switch e.Code {
	case exitOK:
		return Accepted
	case exitWrong:
		return WrongAnswer
	case exitPoints:
		return Points
	}
	return PresentationError
}
