package page

import (
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// grid holds the result of each solution at each test of a problem.
type grid struct {
	Solutions []string   `json:"solutions"` // solutions that attempted the problem, sorted as in heat
	Tests     []gridTest `json:"tests"`     // by checkpoint and group, in the order of reports
}

// gridTest is a test of a checkpoint.
type gridTest struct {
	Checkpoint string `json:"checkpoint"`
	File       string `json:"file"`
	ID         string `json:"id"`
	Group      string `json:"group"`
	// States has a letter for each solution: p passed, f failed, x both, over its cells, s skipped, - missing
	// test or verdict.
	States string `json:"states"`
	Passed int    `json:"passed"` // solutions that pass it in all cells
	Judged int    `json:"judged"` // solutions with a verdict on it
	Kind   string `json:"kind"`   // "flaky", "none", "all", "separates", or "" without a verdict
}

// mostGridTests limits the tests of a grid.
const mostGridTests = 2000

// gridsOf returns the grids of problems, with solutions in the given order.
func gridsOf(cells []*report.Cell, solutions []string) map[string]*grid {
	type key struct{ problem, checkpoint, file, id string }
	type seen struct{ passed, failed, skipped bool }
	grids, tests := map[string]*grid{}, map[key]int{}
	states, attempted := map[key]map[string]*seen{}, map[string]map[string]bool{}
	for _, cell := range cells {
		g := grids[cell.Problem]
		if g == nil {
			g = &grid{Solutions: []string{}, Tests: []gridTest{}}
			grids[cell.Problem], attempted[cell.Problem] = g, map[string]bool{}
		}
		attempted[cell.Problem][cell.Solution] = true
		for i := range cell.Checkpoints {
			c := &cell.Checkpoints[i]
			for t := range c.Tests {
				test := &c.Tests[t]
				k := key{cell.Problem, c.Name, test.File, test.ID}
				if states[k] == nil {
					if len(g.Tests) == mostGridTests {
						continue
					}
					tests[k], states[k] = len(g.Tests), map[string]*seen{}
					g.Tests = append(g.Tests, gridTest{Checkpoint: c.Name, File: test.File, ID: test.ID, Group: string(test.Group)})
				}
				s := states[k][cell.Solution]
				if s == nil {
					s = &seen{}
					states[k][cell.Solution] = s
				}
				switch test.Status {
				case verdict.TestPassed:
					s.passed = true
				case verdict.TestFailed, verdict.TestError:
					s.failed = true
				default:
					s.skipped = true
				}
			}
		}
	}
	for problem, g := range grids {
		for _, solution := range solutions {
			if attempted[problem][solution] {
				g.Solutions = append(g.Solutions, solution)
			}
		}
	}
	for k, at := range tests {
		g := grids[k.problem]
		t := &g.Tests[at]
		flaky, letters := false, make([]byte, len(g.Solutions))
		for i, solution := range g.Solutions {
			letters[i] = '-'
			switch s := states[k][solution]; {
			case s == nil:
			case s.passed && s.failed:
				letters[i], flaky = 'x', true
				t.Judged++
			case s.passed:
				letters[i] = 'p'
				t.Passed++
				t.Judged++
			case s.failed:
				letters[i] = 'f'
				t.Judged++
			case s.skipped:
				letters[i] = 's'
			}
		}
		t.States = string(letters)
		switch {
		case t.Judged == 0:
		case flaky:
			t.Kind = "flaky"
		case t.Passed == 0:
			t.Kind = "none"
		case t.Passed == t.Judged:
			t.Kind = "all"
		default:
			t.Kind = "separates"
		}
	}
	return grids
}
