package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// ShipsReference reports whether any problem ships a solution.
func ShipsReference(cfg *lang.Config) bool {
	return slices.ContainsFunc(cfg.Problems, func(p *lang.Problem) bool { return len(p.References) > 0 })
}

// CompareReferences compares the results of the solutions that problems ship with the expected ones, and
// their repeats with each other. results can be nil. executed contains the problems and solutions that the
// run judged; the results of others were already stored.
func CompareReferences(cfg *lang.Config, results *report.Results, executed map[[2]string]bool) (all []report.Reference) {
	cells := map[[2]string][]*report.Cell{}
	for i := range orEmpty(results).Cells {
		cell := &results.Cells[i]
		at := [2]string{cell.Problem, cell.Solution}
		cells[at] = append(cells[at], cell)
	}
	for _, problem := range cfg.Problems {
		for _, wanted := range problem.References {
			at := [2]string{problem.Name, wanted.Name}
			r := report.Reference{Problem: problem.Name, Name: wanted.Name, Expect: wanted.Expect, Status: verdict.Skipped, New: executed[at]}
			if problem.Scored() && wanted.Expect == lang.ExpectPass {
				r.Wanted = &wanted.Low
			}
			compare(&r, problem, wanted, cells[at])
			all = append(all, r)
		}
	}
	return all
}

func orEmpty(results *report.Results) *report.Results {
	if results == nil {
		return &report.Results{}
	}
	return results
}

// compare fills in the results of repeats. r shows the first repeat with an unexpected verdict, or else
// the first without a verdict, or else the first.
func compare(r *report.Reference, problem *lang.Problem, wanted *lang.Reference, repeats []*report.Cell) {
	got, shown := map[string]int{}, 0
	for _, cell := range repeats {
		rank := 1
		switch {
		case !isJudged(cell):
			r.Unjudged++
			rank = 2
		case !meets(cell, problem, wanted):
			r.Missed++
			rank = 3
			fallthrough
		default:
			r.Judged++
			got[resultText(cell, problem, wanted)]++
		}
		for i := range cell.Checkpoints {
			r.Seconds += cell.Checkpoints[i].DurationMS / 1000
		}
		if rank > shown {
			shown = rank
			r.Score, r.Status, r.Message = cell.Score, cell.Status, cell.Message
		}
	}
	r.Reached = r.Missed+r.Unjudged == 0 && r.Judged > 0
	r.Got = summary(got)
	r.Flaky = differences(repeats)
}

// isJudged reports whether a cell has verdicts about its solution. Failures of the machine and unusable
// files of the problem do not count.
func isJudged(cell *report.Cell) bool {
	return cell.Status != verdict.Broken && cell.Status != verdict.Skipped && len(cell.Checkpoints) > 0 &&
		!slices.ContainsFunc(cell.Checkpoints, func(c report.Checkpoint) bool { return c.Class == verdict.InputError })
}

// meets reports whether a cell that was judged has the expected result.
func meets(cell *report.Cell, problem *lang.Problem, wanted *lang.Reference) bool {
	every := func(ok func(c *report.Checkpoint) bool) bool {
		return !slices.ContainsFunc(cell.Checkpoints, func(c report.Checkpoint) bool { return !ok(&c) })
	}
	switch {
	case wanted.Expect == lang.ExpectPass && problem.Scored():
		return cell.Status == verdict.Success && cell.Score != nil && *cell.Score >= wanted.Low
	case wanted.Expect == lang.ExpectPass:
		return cell.Status == verdict.Success && every(func(c *report.Checkpoint) bool { return c.Passed })
	case wanted.Expect == lang.ExpectFail && problem.Scored():
		return cell.Score == nil || *cell.Score < wanted.Low
	case wanted.Expect == lang.ExpectFail:
		return every(func(c *report.Checkpoint) bool { return !c.Passed })
	}
	return every(func(c *report.Checkpoint) bool {
		return c.Score != nil && *c.Score >= wanted.Low && *c.Score <= wanted.High
	})
}

// resultText returns the result of a cell as text: its score if a score is expected, or else the passed
// checkpoints.
func resultText(cell *report.Cell, problem *lang.Problem, wanted *lang.Reference) string {
	passed, scores := 0, []string{}
	for i := range cell.Checkpoints {
		c := &cell.Checkpoints[i]
		if c.Passed {
			passed++
		}
		if c.Score != nil {
			scores = append(scores, fmt.Sprint(*c.Score))
		} else {
			scores = append(scores, "none")
		}
	}
	switch {
	case problem.Scored() && cell.Score != nil:
		return fmt.Sprintf("score %v", *cell.Score)
	case problem.Scored():
		return "no score"
	case wanted.Expect != lang.ExpectPass && wanted.Expect != lang.ExpectFail:
		return "score " + strings.Join(scores, ", ")
	case passed == len(cell.Checkpoints):
		return "passed"
	case passed == 0:
		return "failed"
	}
	return fmt.Sprintf("%d of %d passed", passed, len(cell.Checkpoints))
}

// summary returns the only value or, of several, how often each occurred.
func summary(counts map[string]int) string {
	if len(counts) == 1 {
		for value := range counts {
			return value
		}
	}
	var parts []string
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s ×%d", value, counts[value]))
	}
	return strings.Join(parts, ", ")
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
		if !isJudged(cell) {
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
					name = test.File + "::" + name // other files can contain a test with that name
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

// verdictOf returns the value by which repeats are compared: the status of a checkpoint, and its score.
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
