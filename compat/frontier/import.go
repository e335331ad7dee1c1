package frontier

import (
	"fmt"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/compat/frontier/batch"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Why results are skipped.
const (
	skippedUnknown    = "of no solution here"
	skippedUnfinished = "without a result"
	skippedNotMade    = "of an answer that was never made"
	skippedUnproven   = "without a hash that says what was judged"
	skippedSolution   = "of another version of the solution"
	skippedProblem    = "of another version of the problem"
)

// importer reads the states of batches.
func importer() *plan.Importer {
	return &plan.Importer{Source: "a `STATE` of Frontier-CS's batches", Help: help, Decode: decode}
}

const help = `With --import the results in a .state.<track>.json of Frontier-CS's batches are
also shown, if its hashes match the files here. They are not verdicts of this
project: they have the class imported, and scores count nowhere unless
--count-imported says so. Nothing is stored.`

func decode(text []byte) (plan.Foreign, error) {
	state, err := batch.DecodeState(text)
	if err != nil {
		return nil, err
	}
	return foreign{state}, nil
}

// foreign implements plan.Foreign.
type foreign struct{ state *batch.State }

func (f foreign) Len() int { return len(f.state.Results) }

// Cells returns the results whose hashes match the files here.
func (f foreign) Cells(p *plan.Plan, from string, counted bool) (plan.Imported, error) {
	solutions := map[batch.Pair]*lang.Solution{}
	for _, c := range p.Cells {
		solutions[pairOf(c.Solution)] = c.Solution
	}
	var all plan.Imported
	hashes := newHashes()
	for _, r := range f.state.Results {
		s := solutions[r.Pair]
		if why := skipped(s, r, hashes); why != "" {
			all.Skipped = append(all.Skipped, plan.SkippedResult{Name: r.ID(), Why: why})
			continue
		}
		cell, err := importedCell(s, r, from, counted)
		if err != nil {
			return all, fmt.Errorf("the result of %s: %w", r.ID(), err)
		}
		all.Cells = append(all.Cells, cell)
	}
	return all, nil
}

// skipped returns why a result is not imported, or "" if it is. A problem's hash can be that of either
// generation.
func skipped(s *lang.Solution, r batch.Result, hashes *hashes) string {
	switch {
	case s == nil || len(s.Checkpoints) == 0:
		return skippedUnknown
	case !r.Status.Complete():
		return skippedUnfinished
	case s.Failed != "":
		return skippedNotMade
	case r.SolutionHash == "" || r.ProblemHash == "" || r.ProblemHash == batch.HashOfNothing:
		return skippedUnproven
	}
	for _, g := range batch.Generations {
		solution, problem, err := hashes.hashesOf(s, g)
		switch {
		case err != nil:
			return err.Error()
		case solution != r.SolutionHash:
			return skippedSolution
		case problem == r.ProblemHash:
			return ""
		}
	}
	return skippedProblem
}

var importedStatus = map[batch.Status]verdict.Status{
	batch.Success: verdict.Success, batch.Error: verdict.Error, batch.Timeout: verdict.TimedOut, batch.Skipped: verdict.Skipped,
}

func importedCell(s *lang.Solution, r batch.Result, from string, counted bool) (report.Cell, error) {
	i := &report.Imported{From: filepath.Base(from), Status: importedStatus[r.Status], Message: r.Message, When: r.Timestamp}
	if r.Score != nil {
		i.Score, i.ScoreText = verdict.NumberOrText(*r.Score)
	}
	if r.Unbounded != nil {
		i.ScoreUnbounded, i.ScoreUnboundedText = verdict.NumberOrText(*r.Unbounded)
	}
	cell := i.Cell(s.Problem.Name, s.Name)
	if counted {
		cell = i.Counted(s.Problem.Name, s.Name)
	}
	for _, l := range s.Labels {
		if cell.Labels == nil {
			cell.Labels = map[string]string{}
		}
		cell.Labels[l.Name] = l.Value
	}
	c := &cell.Checkpoints[0]
	graded := c.Verdict()
	if err := verdict.Grade(graded, plan.RuleOf(s.Checkpoints[0].Checkpoint.Pass)); err != nil {
		return cell, err
	}
	c.Policy, c.Passed, c.Vacuous = graded.Policy, graded.Passed, graded.Vacuous
	return cell, nil
}
