package plan

import (
	"fmt"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/frontier"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Import is what came of a state of Frontier-CS's batches.
type Import struct {
	Cells []report.Cell // of the results that are about files as they are here
	Left  []LeftOut     // all others, in the state's order
}

// LeftOut is a result that was not imported.
type LeftOut struct {
	Pair string
	Why  string // one of the words below, or what kept a file from being read
}

// Why results are left out.
const (
	LeftUnknown    = "of no solution here"
	LeftUnfinished = "without a result"
	LeftNotMade    = "of an answer that was never made"
	LeftUnproven   = "without a hash that says what was judged"
	LeftSolution   = "of another version of the solution"
	LeftProblem    = "of another version of the problem"
)

// Import returns the results of a state whose hashes are those of the files
// here. With counted they look as if they had been found out here.
func (p *Plan) Import(state *frontier.State, from string, counted bool) (Import, error) {
	solutions := map[frontier.Pair]*lang.Solution{}
	for _, c := range p.Cells {
		solutions[FrontierPair(c.Solution)] = c.Solution
	}
	var all Import
	hashes := newFrontierHashes(func(string, string) {})
	for _, r := range state.Results {
		s := solutions[r.Pair]
		if why := leftOut(s, r, hashes); why != "" {
			all.Left = append(all.Left, LeftOut{r.ID(), why})
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

// leftOut says why a result is not imported; "" is that it is. A problem's
// hash may be that of either generation.
func leftOut(s *lang.Solution, r frontier.Result, hashes frontierHashes) string {
	switch {
	case s == nil || len(s.Checkpoints) == 0:
		return LeftUnknown
	case !r.Status.Complete():
		return LeftUnfinished
	case s.Failed != "":
		return LeftNotMade
	case r.SolutionHash == "" || r.ProblemHash == "" || r.ProblemHash == frontier.HashOfNothing:
		return LeftUnproven
	}
	for _, g := range frontier.Generations {
		solution, problem, err := hashes.of(s, g)
		switch {
		case err != nil:
			return err.Error()
		case solution != r.SolutionHash:
			return LeftSolution
		case problem == r.ProblemHash:
			return ""
		}
	}
	return LeftProblem
}

var importedStatus = map[frontier.Status]verdict.Status{
	frontier.Success: verdict.Success, frontier.Error: verdict.Error, frontier.Timeout: verdict.TimedOut, frontier.Skipped: verdict.Skipped,
}

func importedCell(s *lang.Solution, r frontier.Result, from string, counted bool) (report.Cell, error) {
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
	if err := verdict.Grade(graded, ruleOf(s.Checkpoints[0].Checkpoint.Pass)); err != nil {
		return cell, err
	}
	c.Policy, c.Passed, c.Vacuous = graded.Policy, graded.Passed, graded.Vacuous
	return cell, nil
}

// Count returns how many were left out for each reason, in order of the first.
func (i *Import) Count() []string {
	n := map[string]int{}
	var order []string
	for _, l := range i.Left {
		if n[l.Why]++; n[l.Why] == 1 {
			order = append(order, l.Why)
		}
	}
	for j, why := range order {
		order[j] = fmt.Sprintf("%d %s", n[why], why)
	}
	return order
}
