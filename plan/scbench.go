package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/scbench"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// KindSCBench is the kind of export that writes SlopCodeBench's files.
const KindSCBench = "scbench"

// scbenchRun is what SlopCodeBench calls a run: one agent's answers to
// problems, here one solution name on one backend, once.
type scbenchRun struct {
	name     string
	problems []scbench.Problem
}

// cellName is what a cell is called in results.
type cellName struct {
	problem, solution, backend string
	repeat                     int
}

// ExportSCBench writes results in SlopCodeBench's layout below dir: in dir
// itself when they are of one run, else in a directory for each, named like
// the second half of a cell's address. Checkpoints that the run was stopped
// before are left out.
func (p *Plan) ExportSCBench(ctx context.Context, store cache.Store, r *graph.Report, results *report.Results, dir string, left report.Left) error {
	cells := map[cellName]*Cell{}
	for _, c := range p.Cells {
		cells[nameOf(c)] = c
	}
	var runs []*scbenchRun
	for i := range results.Cells {
		rc := &results.Cells[i]
		cell := cells[cellName{rc.Problem, rc.Solution, rc.Backend, rc.Repeat}]
		if cell == nil || cell.Problem.Pytest == nil && len(cell.Problem.Invalid) == 0 {
			continue // the layout knows no scores
		}
		j := slices.IndexFunc(runs, func(run *scbenchRun) bool { return run.name == cell.Name() })
		if j < 0 {
			runs = append(runs, &scbenchRun{name: cell.Name()})
			j = len(runs) - 1
		}
		problem := scbench.Problem{Name: rc.Problem, Path: rc.Problem, Invalid: len(cell.Problem.Invalid) > 0}
		for k := range rc.Checkpoints {
			c, err := p.scbenchCheckpoint(ctx, store, r, cell, rc.Checkpoints[k])
			if err != nil {
				return err
			}
			if c != nil {
				problem.Checkpoints = append(problem.Checkpoints, c)
			}
		}
		runs[j].problems = append(runs[j].problems, problem)
	}
	for _, run := range runs {
		target := dir
		if len(runs) > 1 {
			target = filepath.Join(dir, strings.ReplaceAll(run.name, "/", "_"))
		}
		if err := scbench.Write(target, run.problems, left); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) scbenchCheckpoint(ctx context.Context, store cache.Store, r *graph.Report, cell *Cell, result report.Checkpoint) (*scbench.Checkpoint, error) {
	i := slices.IndexFunc(cell.Checkpoints, func(cc CellCheckpoint) bool { return cc.Checkpoint.Name == result.Name })
	if i < 0 || result.Class == verdict.NotReached {
		return nil, nil
	}
	cc, all := cell.Checkpoints[i], cell.Problem.Checkpoints
	c := &scbench.Checkpoint{
		Problem: cell.Problem.Name, ProblemVersion: cell.Problem.Version, CheckpointVersion: cc.Checkpoint.Version,
		Order: cc.Checkpoint.Order, Entry: entryOf(cell.Solution, cc.Checkpoint), Result: result,
		First: cc.Checkpoint == all[0], Last: cc.Checkpoint == all[len(all)-1],
	}
	runs := make([]pytest.Ended, len(cc.Pytest))
	for i, id := range cc.Pytest {
		runs[i] = pytest.Ended{File: p.Graph.Node(id).Label("file"), Outputs: r.Status(id).Outputs}
	}
	var err error
	if c.Report, c.Log, err = pytest.Join(ctx, store, cell.Problem.Pytest.Directory, runs); err != nil {
		return nil, fmt.Errorf("reading what the tests of %s left: %w", result.Name, err)
	}
	return c, nil
}

func entryOf(s *lang.Solution, cp *lang.Checkpoint) string {
	for _, answer := range s.Checkpoints {
		if answer.Checkpoint == cp {
			return answer.Entry
		}
	}
	return ""
}
