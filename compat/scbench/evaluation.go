package scbench

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// schemaVersion is the version of evaluation.json that is written.
const schemaVersion = 1

// Checkpoint is a checkpoint of a run with the data of files besides its
// results. One without an exit code was not judged: it has a row, so that no
// rate looks better for it, and no evaluation.json.
type Checkpoint struct {
	Problem           string
	ProblemVersion    int
	CheckpointVersion int
	Order             int
	First, Last       bool // of the problem's checkpoints, in this run or not
	Entry             string
	OmitSkipped       bool // tests that are skipped are left out of totals
	Result            report.Checkpoint
	Log               []byte // pytest's output; stdout and stderr are one stream here
	Report            []byte // pytest-json-report's file; nil if pytest wrote none
}

// evaluation has the keys of evaluation.json in their order.
type evaluation struct {
	SchemaVersion         int               `json:"schema_version"`
	ProblemName           string            `json:"problem_name"`
	ProblemVersion        int               `json:"problem_version"`
	CheckpointName        string            `json:"checkpoint_name"`
	CheckpointVersion     int               `json:"checkpoint_version"`
	Duration              float             `json:"duration"`
	Entrypoint            string            `json:"entrypoint"`
	Tests                 *ordered[*bucket] `json:"tests"`
	PassCounts            *ordered[int]     `json:"pass_counts"`
	TotalCounts           *ordered[int]     `json:"total_counts"`
	PytestExitCode        int               `json:"pytest_exit_code"`
	PytestCollected       int               `json:"pytest_collected"`
	InfrastructureFailure bool              `json:"infrastructure_failure"`
}

// bucket holds the ids of one checkpoint's tests of one group. Whatever did
// not pass is in Failed, skipped tests too.
type bucket struct {
	Passed []string `json:"passed"`
	Failed []string `json:"failed"`
}

// groupNames are SlopCodeBench's names of the groups.
var groupNames = map[verdict.Group]string{
	verdict.Core: "Core", verdict.Functionality: "Functionality", verdict.Regression: "Regression", verdict.ErrorGroup: "Error",
}

func (c *Checkpoint) judged() bool { return c.Result.ExitCode != nil }

// Evaluation returns the text of a judged checkpoint's evaluation.json. Buckets and counts are in the order
// of their first use in the report, and groups without tests are absent.
func Evaluation(c *Checkpoint) ([]byte, error) {
	if !c.judged() {
		return nil, fmt.Errorf("%s was not judged", c.Result.Name)
	}
	e := evaluation{
		SchemaVersion: schemaVersion,
		ProblemName:   c.Problem, ProblemVersion: c.ProblemVersion,
		CheckpointName: c.Result.Name, CheckpointVersion: c.CheckpointVersion,
		Duration: float(c.Result.DurationMS / 1000), Entrypoint: c.Entry,
		Tests: newOrdered[*bucket](), PassCounts: newOrdered[int](), TotalCounts: newOrdered[int](),
		PytestExitCode: *c.Result.ExitCode, PytestCollected: c.Result.Collected, InfrastructureFailure: c.Result.InfrastructureFailure,
	}
	for _, t := range c.Result.Tests {
		group, known := groupNames[t.Group]
		if !known {
			return nil, fmt.Errorf("test %s has the unknown group %q", t.ID, t.Group)
		}
		e.add(t, group)
		if total, _ := e.TotalCounts.get(group); t.Status != verdict.TestSkipped || !c.OmitSkipped {
			e.TotalCounts.set(group, total+1)
		}
	}
	return encode(e, "  ")
}

func (e *evaluation) add(t report.Test, group string) {
	name := t.Checkpoint + "-" + group
	b, ok := e.Tests.get(name)
	if !ok {
		b = &bucket{Passed: []string{}, Failed: []string{}}
		e.Tests.set(name, b)
	}
	if t.Status != verdict.TestPassed {
		b.Failed = append(b.Failed, t.ID)
		return
	}
	b.Passed = append(b.Passed, t.ID)
	passed, _ := e.PassCounts.get(group)
	e.PassCounts.set(group, passed+1)
}
