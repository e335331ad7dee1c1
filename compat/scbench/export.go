package scbench

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/compat/outdir"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Benchmark returns what plan needs to know of SlopCodeBench.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "scbench", Export: export, Readers: readers()}
}

// agentRun is a run in SlopCodeBench's sense: an agent's answers to problems, here a solution name on a
// backend, once.
type agentRun struct {
	name     string
	problems []Problem
}

// export writes results in SlopCodeBench's layout: in the directory itself when
// they are of one run, else in a directory for each, named like the second half
// of a cell's address. Checkpoints that were not reached are left out.
func export(ctx context.Context, e plan.Export) error {
	runs, err := runsOf(ctx, &e)
	if err != nil {
		return err
	}
	return outdir.Export(e.Dir, "scbench "+e.Suite, func(out *outdir.Dir) error {
		for _, run := range runs {
			target := e.Dir
			if len(runs) > 1 {
				target = filepath.Join(e.Dir, strings.ReplaceAll(run.name, "/", "_"))
			}
			if err := Write(out, target, run.problems); err != nil {
				return err
			}
		}
		return nil
	})
}

func runsOf(ctx context.Context, e *plan.Export) ([]*agentRun, error) {
	cellOf := e.Cells()
	var runs []*agentRun
	for i := range e.Results.Cells {
		rc := &e.Results.Cells[i]
		cell := cellOf(rc)
		if cell == nil || cell.Problem.Pytest == nil && len(cell.Problem.Invalid) == 0 {
			continue // the layout knows no scores
		}
		j := slices.IndexFunc(runs, func(run *agentRun) bool { return run.name == cell.Name() })
		if j < 0 {
			runs = append(runs, &agentRun{name: cell.Name()})
			j = len(runs) - 1
		}
		problem := Problem{Name: rc.Problem, Path: rc.Problem, Invalid: len(cell.Problem.Invalid) > 0}
		for k := range rc.Checkpoints {
			c, err := checkpointOf(ctx, e, cell, rc.Checkpoints[k])
			if err != nil {
				return nil, err
			}
			if c != nil {
				problem.Checkpoints = append(problem.Checkpoints, c)
			}
		}
		runs[j].problems = append(runs[j].problems, problem)
	}
	return runs, nil
}

func checkpointOf(ctx context.Context, e *plan.Export, cell *plan.Cell, result report.Checkpoint) (*Checkpoint, error) {
	i := slices.IndexFunc(cell.Checkpoints, func(cc plan.CellCheckpoint) bool { return cc.Checkpoint.Name == result.Name })
	if i < 0 || result.Class == verdict.NotRun {
		return nil, nil
	}
	cc, all := &cell.Checkpoints[i], cell.Problem.Checkpoints
	c := &Checkpoint{
		Problem: cell.Problem.Name, ProblemVersion: cell.Problem.Version, CheckpointVersion: cc.Checkpoint.Version,
		Order: cc.Checkpoint.Order, Entry: entryOf(cell.Solution, cc.Checkpoint), Result: result,
		OmitSkipped: cell.Problem.Pytest.OmitSkipped,
		First:       cc.Checkpoint == all[0], Last: cc.Checkpoint == all[len(all)-1],
	}
	if result.Class == verdict.NotReached {
		return c, nil
	}
	var err error
	c.Report, c.Log, err = e.Plan.PytestOutput(ctx, e.Store, e.Run, cc)
	return c, err
}

func entryOf(s *lang.Solution, cp *lang.Checkpoint) string {
	for _, answer := range s.Checkpoints {
		if answer.Checkpoint == cp {
			return answer.Entry
		}
	}
	return ""
}
