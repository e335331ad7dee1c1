package verdict

import (
	"iter"
	"slices"
)

// Checkpoint is one graded checkpoint. Groups has an entry for each of Groups. InfrastructureFailure is
// set if pytest ended with exit code 2 to 5 or collected nothing, or if infrastructure prevented pytest
// from running.
//
// A problem that gives scores has one checkpoint, whose Name is empty. Its tests, if it has any, are its
// cases.
//
// The JSON of a checkpoint is its stored form. Its meaning never changes under the recipes of the tasks that
// write it.
type Checkpoint struct {
	Name    string `json:"name"`
	Passed  bool   `json:"passed"`
	Policy  string `json:"policy"`  // the text of the Rule that decided Passed
	Vacuous bool   `json:"vacuous"` // passed, and Policy had no test to look at
	Class   Class  `json:"class"`
	Score
	ExitCode              *int        `json:"exit_code"` // of pytest; nil if it did not run
	Collected             int         `json:"collected"`
	InfrastructureFailure bool        `json:"infrastructure_failure"`
	Groups                GroupCounts `json:"groups"`
	Tests                 []Test      `json:"tests"` // in report order
}

// TestStatus is the verdict for one test.
type TestStatus string

const (
	TestPassed  TestStatus = "passed"
	TestFailed  TestStatus = "failed"
	TestSkipped TestStatus = "skipped"
	TestError   TestStatus = "error"
)

// Ruled reports whether c has a rule to pass by. Without a rule, it has only a score.
func (c *Checkpoint) Ruled() bool { return Policy(c.Policy) != NoRule }

// TestTimeout is the Verdict of a test of pytest that its limit ended.
const TestTimeout = "timeout"

// ShownClass returns the class that tables, selectors and retries go by: SessionTimeout if c did not pass, and a limit ended
// each test that failed, since a program or a machine is too slow then, rather than an answer wrong; otherwise Class. It
// does not decide what passes.
func (c *Checkpoint) ShownClass() Class { return c.ShownClassOf(slices.Values(c.Tests)) }

// ShownClassOf does the same as ShownClass for other tests than those of c.
func (c *Checkpoint) ShownClassOf(tests iter.Seq[Test]) Class {
	if c.Outcome() != OutcomeFailed {
		return c.Class
	}
	class := c.Class
	for t := range tests {
		switch {
		case t.Status != TestFailed && t.Status != TestError:
		case t.Verdict != TestTimeout:
			return c.Class
		default:
			class = SessionTimeout
		}
	}
	return class
}

// Test is one test of a checkpoint. ID is the pytest node id after the first "::"; File is the part before
// it.
type Test struct {
	ID         string     `json:"id"`         // pytest's node id after the first "::"; the name of a case
	File       string     `json:"file"`       // pytest's node id before the first "::"
	Checkpoint string     `json:"checkpoint"` // the checkpoint that introduced the test
	Group      Group      `json:"group"`
	Status     TestStatus `json:"status"`
	Verdict    string     `json:"verdict,omitempty"` // more precise than Status: "AC", "WA", "TLE" ... of a case; "timeout" of a test of pytest
	// Both are of a case of a scored problem. It passed if its ratio is exactly 1.
	Ratio          *float64 `json:"ratio,omitempty"`           // earned share of the possible score; null if unknown
	RatioUnbounded *float64 `json:"ratio_unbounded,omitempty"` // the same without an upper bound
}
