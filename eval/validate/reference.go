package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Reference is the result of a solution that a problem ships: in the first insufficient repeat, or in the
// first of all.
type Reference struct {
	Problem string         `json:"problem"`
	Wanted  *float64       `json:"wanted"` // null of a pytest problem: every checkpoint must pass
	Score   *float64       `json:"score"`  // null without a score
	Status  verdict.Status `json:"status"`
	Reached bool           `json:"reached"` // in every repeat
	Message *string        `json:"message"`
	Flaky   []string       `json:"flaky,omitempty"` // what differs between repeats that were judged
}

// ShipsReference reports whether any problem ships a solution.
func ShipsReference(cfg *lang.Config) bool {
	return slices.ContainsFunc(cfg.Problems, func(p *lang.Problem) bool { return p.Reference != nil })
}

// CompareReferences compares the results of the solutions that problems ship with the required ones, and
// their repeats with each other. missed counts the insufficient ones, flaky those that differ. Results of a
// configuration without any can be nil.
func CompareReferences(cfg *lang.Config, results *report.Results) (all []Reference, missed, flaky int) {
	for _, problem := range cfg.Problems {
		if problem.Reference == nil {
			continue
		}
		r := Reference{Problem: problem.Name, Status: verdict.Skipped}
		if problem.Scored() {
			r.Wanted = &problem.Reference.Score
		}
		var repeats []*report.Cell
		for i := range results.Cells {
			cell := &results.Cells[i]
			if cell.Problem != problem.Name || cell.Solution != lang.ReferenceName {
				continue
			}
			repeats = append(repeats, cell)
			if len(repeats) == 1 || r.Reached {
				r.Score, r.Status, r.Message, r.Reached = cell.Score, cell.Status, cell.Message, reaches(cell, r.Wanted)
			}
		}
		r.Flaky = differences(repeats)
		if !r.Reached {
			missed++
		}
		if len(r.Flaky) > 0 {
			flaky++
		}
		all = append(all, r)
	}
	return all, missed, flaky
}

// reaches reports whether a cell has the required score or, without one, whether it passes every checkpoint.
func reaches(cell *report.Cell, wanted *float64) bool {
	if cell.Status != verdict.Success {
		return false
	}
	if wanted != nil {
		return cell.Score != nil && *cell.Score >= *wanted
	}
	return !slices.ContainsFunc(cell.Checkpoints, func(c report.Checkpoint) bool { return !c.Passed })
}

// differences describes how repeats of a cell differ, as "one tests/test_one.py::test_x: failed in 1, passed
// in 2". It ignores repeats that could not be judged.
func differences(repeats []*report.Cell) []string {
	said := map[string]map[string]int{} // subject, to value, to count
	var about []string                  // in order
	total := 0
	say := func(what, was string) {
		if said[what] == nil {
			said[what], about = map[string]int{}, append(about, what)
		}
		said[what][was]++
	}
	for _, cell := range repeats {
		if cell.Status == verdict.Broken || cell.Status == verdict.Skipped {
			continue
		}
		total++
		for i := range cell.Checkpoints {
			c := &cell.Checkpoints[i]
			say(c.Name, verdictOf(c))
			for _, test := range c.Tests {
				was := test.Verdict
				if was == "" {
					was = string(test.Status)
				}
				name := test.ID
				if test.File != "" {
					name = test.File + "::" + name // other files can have a test of that name
				}
				say(strings.TrimSpace(c.Name+" "+name), was)
			}
		}
	}
	var found []string
	for _, what := range about {
		if different := describe(said[what], total); different != "" {
			found = append(found, strings.TrimPrefix(what+": "+different, ": "))
		}
	}
	return found
}

// verdictOf returns the value by which repeats are compared: how a checkpoint ended, and its score.
func verdictOf(c *report.Checkpoint) string {
	switch {
	case c.Class != verdict.Judged:
		return string(c.Class)
	case c.Score != nil:
		return fmt.Sprintf("score %v", *c.Score)
	case c.Passed:
		return "passed"
	}
	return "failed"
}

// describe lists how often each value occurred, or returns "" if all are equal.
func describe(counts map[string]int, total int) string {
	var parts []string
	for was, n := range counts {
		parts = append(parts, fmt.Sprintf("%s in %d", was, n))
		total -= n
	}
	if total > 0 {
		parts = append(parts, fmt.Sprintf("absent in %d", total))
	}
	if len(parts) < 2 {
		return ""
	}
	slices.Sort(parts)
	const shown = 4
	return text.Some(parts, shown)
}
