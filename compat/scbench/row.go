package scbench

import (
	"github.com/fevalgraph/fevalgraph/verdict"
)

// row has the correctness keys of a line of checkpoint_results.jsonl, in their
// order.
type row struct {
	Problem    string `json:"problem"`
	Version    int    `json:"version"`
	Checkpoint string `json:"checkpoint"`
	Path       string `json:"path"`
	Index      int    `json:"idx"`
	State      string `json:"state"`
	IsFirst    bool   `json:"is_first"`
	IsLast     bool   `json:"is_last"`
	*rates            // nil for a checkpoint that was not judged
}

// rates are the results of a judged checkpoint's tests. A rate over no tests is
// absent: SlopCodeBench divides by zero there.
type rates struct {
	PassRate           *float `json:"pass_rate,omitempty"`
	CorePassRate       *float `json:"core_pass_rate,omitempty"`
	CheckpointPassRate *float `json:"checkpoint_pass_rate,omitempty"`
	Duration           float  `json:"duration"`
	TotalTests         int    `json:"total_tests"`
	PassedTests        int    `json:"passed_tests"`
	CoreTotal          int    `json:"core_total"`
	CorePassed         int    `json:"core_passed"`
	FunctionalityTotal int    `json:"functionality_total"`
	FunctionalityPass  int    `json:"functionality_passed"`
	ErrorTotal         int    `json:"error_total"`
	ErrorPassed        int    `json:"error_passed"`
	RegressionTotal    int    `json:"regression_total"`
	RegressionPassed   int    `json:"regression_passed"`
}

// Problem is a problem of a run: the selected checkpoints, in order.
type Problem struct {
	Name        string
	Path        string // directory of the problem in the run
	Checkpoints []*Checkpoint
	Invalid     bool // nothing of it could be evaluated, so that it has no checkpoints
}

// Rows returns the text of checkpoint_results.jsonl for problems.
func Rows(problems []Problem) ([]byte, error) {
	var out []byte
	for _, p := range problems {
		for _, c := range p.Checkpoints {
			line, err := encode(rowOf(p, c), "")
			if err != nil {
				return nil, err
			}
			out = append(append(out, line...), '\n')
		}
	}
	return out, nil
}

func rowOf(p Problem, c *Checkpoint) row {
	r := row{
		Problem: p.Name, Version: c.ProblemVersion, Checkpoint: c.Result.Name, Path: p.Path, Index: c.Order, State: "error",
		IsFirst: c.First, IsLast: c.Last,
	}
	if c.judged() {
		r.State, r.rates = "ran", ratesOf(c)
	}
	return r
}

func ratesOf(c *Checkpoint) *rates {
	groups := c.Result.Groups
	core, functionality := groups[verdict.Core], groups[verdict.Functionality]
	regression, errors := groups[verdict.Regression], groups[verdict.ErrorGroup]
	own := verdict.Count{
		Passed: core.Passed + functionality.Passed + errors.Passed,
		Total:  core.Total + functionality.Total + errors.Total,
	}
	all := verdict.Count{Passed: own.Passed + regression.Passed, Total: own.Total + regression.Total}
	return &rates{
		PassRate: rate(all), CorePassRate: rate(core), CheckpointPassRate: rate(own),
		Duration: float(c.Result.DurationMS / 1000), TotalTests: all.Total, PassedTests: all.Passed,
		CoreTotal: core.Total, CorePassed: core.Passed,
		FunctionalityTotal: functionality.Total, FunctionalityPass: functionality.Passed,
		ErrorTotal: errors.Total, ErrorPassed: errors.Passed,
		RegressionTotal: regression.Total, RegressionPassed: regression.Passed,
	}
}

func rate(n verdict.Count) *float {
	if n.Total == 0 {
		return nil
	}
	r := float(float64(n.Passed) / float64(n.Total))
	return &r
}
