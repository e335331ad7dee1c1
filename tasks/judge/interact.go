package judge

import (
	"context"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Interact is the task that runs a solution connected to an interactor on a case. Its outputs are
// OutputVerdict, the OutputMeasure of the solution, and a log with the solution's standard error.
type Interact struct {
	Language         Language
	Filename         string
	Rules            Rules
	Limits           backend.Limits // of the solution
	InteractorLimits backend.Limits
	Repeat           int
	Box              *Box
}

// InteractorLimits returns the limits of an interactor: it can run longer than the solution.
func InteractorLimits(solution backend.Limits) backend.Limits {
	const more = 4
	return backend.Limits{
		CPU: more * solution.CPU, Clock: more * solution.Clock, Memory: more * solution.Memory,
		Processes: toolProcesses, Stdout: toolOutput, Stderr: toolOutput,
	}
}

// Describe implements graph.Task.
func (i *Interact) Describe(ctx context.Context, m *graph.Manifest) error {
	// 2: a busy machine is not a limit of time; 3: with a log; 4: quoted ratios do not count; 5: a program
	// without memory has the verdict for that; 6: if neither ends, the interactor runs without a solution to
	// find out which is to blame; 7: all of a message is read, and the lowest ratio counts; 8: a dialect blames a
	// solution that leaves, and has no empty message; 9: an interactor that loops at the end of its input does not
	// hang
	m.Int("recipe", 9)
	argv, _ := i.Language.program(i.Filename)
	m.Strings("argv", argv)
	m.String("rules", i.Rules.Name)
	describeLimits(m, "", i.Limits)
	describeLimits(m, "interactor ", i.InteractorLimits)
	m.Int("repeat", int64(i.Repeat))
	return i.Box.describe(ctx, m)
}

// Run implements graph.Task.
func (i *Interact) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	return runBlamed(ctx, w, i.work)
}

func (i *Interact) work(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	program, ok := w.Input(FromSolution, OutputProgram)
	if !ok {
		verdict, why := end{}.blame()
		k.JSON(OutputVerdict, failedWith(verdict, why))
		k.JSON(OutputMeasure, Measure{})
		return k.Outcome, k.Err
	}
	argv, as := i.Language.program(i.Filename)
	solution := backend.Program{
		Argv: argv, Env: i.Box.Env, Files: []backend.File{{Path: as, Digest: program}}, StdinFrom: 2, Limits: i.Limits,
	}
	interactor := backend.Program{Argv: []string{"interactor", fileIn, "tout.txt", fileAns}, Env: i.Box.Env, StdinFrom: 1, Limits: i.InteractorLimits}
	for _, f := range []struct{ as, output, name string }{
		{FromTool, OutputProgram, "interactor"}, {FromTestData, OutputIn, fileIn}, {FromTestData, OutputAns, fileAns},
	} {
		d, err := input(w, f.as, f.output)
		if err != nil {
			return k.Outcome, err
		}
		interactor.Files = append(interactor.Files, backend.File{Path: f.name, Digest: d})
	}
	endings, err := i.talk(ctx, solution, interactor)
	if err != nil {
		return k.Outcome, err
	}
	if endings[0], err = i.Box.starved(ctx, w.Store, program, endings[0], i.Limits); err != nil {
		return k.Outcome, err
	}
	var log transcript
	log.add("solution", endings[0].Stderr, endOf(endings[0]))
	log.add("interactor", endings[1].Stderr, endOf(endings[1]))
	v, err := i.judge(endings[0], endings[1])
	if err != nil {
		w.Log.Write(log)
		return k.Outcome, err
	}
	k.JSON(OutputVerdict, v)
	k.JSON(OutputMeasure, measureOf(endings[0]))
	k.Keep(graph.LogOutput, log)
	return k.Outcome, k.Err
}

// talk runs the solution and the interactor. If the interactor reaches a limit both with the solution and without one,
// it hangs, and talk returns an error, since that is not the solution's fault. If it ends without a solution, this one
// blocked it, for example by filling the pipe between them. If it waited for the solution, and computes without one, it
// loops at the end of its input, which the solution reached by waiting, or by leaving.
func (i *Interact) talk(ctx context.Context, solution, interactor backend.Program) ([]backend.Ending, error) {
	ends, err := i.Box.run(ctx, solution, interactor)
	if err != nil {
		return nil, err
	}
	waited := ends[0].Status == backend.ClockLimit || endOf(ends[0]).clean()
	// Dialects blame the solution.
	if i.Rules.Dialect == nil && waited && hung(ends[1]) {
		alone := interactor
		alone.StdinFrom = 0
		end, err := i.Box.runOne(ctx, alone)
		switch {
		case err != nil:
			return nil, err
		case hung(end) && (sleeps(end) || ends[1].Clock-ends[1].CPU < ends[0].Clock/2):
			return nil, &failedError{endOf(end).String() + ", with a solution and without any"}
		case hung(end):
			ends[1].Status = backend.CPULimit
		}
	}
	return i.Box.patience(ctx, ends, solution, interactor)
}

// hung reports whether a program reached a limit of time.
func hung(e backend.Ending) bool {
	return e.Status == backend.ClockLimit || e.Status == backend.CPULimit
}

// brokenPipe is the signal of a program that writes to a program that has ended.
const brokenPipe = "broken pipe"

// judge combines the results of both. The end of the solution outweighs the interactor's verdict, unless
// the interactor caused it.
func (i *Interact) judge(solution, interactor backend.Ending) (Verdict, error) {
	s, t := endOf(solution), endOf(interactor)
	verdict, why := s.blame()
	// Whether the interactor first reads the end of its input or writes again depends on timing.
	left := s.clean() && t.Status == backend.Signalled && t.Signal == brokenPipe
	if left {
		verdict, why = WrongAnswer, "it ended while the interactor was still talking"
	}
	if i.Rules.Dialect != nil {
		switch {
		case left:
			return i.Rules.read(verdict, false, string(interactor.Stderr), "").explained(why), nil
		case !s.clean():
			return i.Rules.read(verdict, false, string(solution.Stderr), s.signal()), nil
		}
		return i.Rules.readTool(t, interactor.Stderr), nil
	}
	said := readable(interactor.Stderr)
	switch {
	case left:
		return failedWith(verdict, why), nil
	case s.clean() && t.Status == backend.ClockLimit && !interactor.Contended:
		// The machine was not too busy: data that the solution left in the pipe kept the interactor from reading
		// the end of its input.
		return failedWith(CheckerFailed, t.String()), nil
	case s.clean():
	case s.Status == backend.Signalled && s.Signal == brokenPipe && t.usable():
		// The interactor had decided and exited; whether the solution writes again before it notices depends on
		// timing.
	default:
		if why == "" {
			why = said
		} else if said != "" {
			why += "; interactor: " + said
		}
		return failedWith(verdict, why), nil
	}
	return judged(t, interactor.Stderr)
}
