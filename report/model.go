// Package report renders the results of an evaluation: its model, and formats such as table, JSON, JSON lines, CSV,
// Markdown, JUnit XML and CTRF. It runs nothing, parses no test output and decides no verdict: package verdict
// does, and defines the form that stores contain. Here, results are sorted, counted and written.
//
//	r.Sort(order)
//	err := report.Write(os.Stdout, "junit", r, report.Options{})
//	os.Exit(report.Summarize(r, nil).Exit)
//
// Every format keeps one rule: reading it alone never gives a better verdict than the model contains. Each format
// has an entry for a checkpoint that could not be judged, and for a cell that broke before its first checkpoint.
package report

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Schema is the version of the JSON form. Field names are stable; fields can be added.
const Schema = 1

// Results is the outcome of a run. Cells are sorted by problem, solution, backend and repeat, checkpoints by
// their order, and tests in report order.
type Results struct {
	Schema int    `json:"schema"` // 1; changes with the meaning of a field
	Run    string `json:"run"`    // id of the run; for last known results, that of the latest run
	Cells  []Cell `json:"cells"`
	Tasks  []Task `json:"tasks,omitempty"` // by name
}

// Cell is one solution on one backend. A score is null if it is missing; 0 is a score.
type Cell struct {
	Problem        string            `json:"problem"`
	Solution       string            `json:"solution"`
	Backend        string            `json:"backend"`
	Repeat         int               `json:"repeat"`           // from 1
	Suites         []string          `json:"suites,omitempty"` // suites that contain the cell
	Labels         map[string]string `json:"labels,omitempty"` // labels of the solution
	Status         verdict.Status    `json:"status"`
	Score          *float64          `json:"score"`              // mean of the checkpoints, from 0 to 100; null without scores
	ScoreUnbounded *float64          `json:"score_unbounded"`    // the same without an upper bound
	Message        *string           `json:"message"`            // message of the first checkpoint that has one
	Cluster        string            `json:"-"`                  // of problems of another program that resemble each other
	Imported       *Imported         `json:"imported,omitempty"` // set if another tool judged the cell
	Recorded       *Recorded         `json:"recorded,omitempty"` // set if another program recorded a result of the solution
	Metric         *Metric           `json:"metric,omitempty"`   // of its values, if another program measured them
	Checkpoints    []Checkpoint      `json:"checkpoints"`
}

// Metric describes values of another program. They are passes, bounded scores, or unbounded scores.
type Metric struct {
	Name      string `json:"name"`
	Bounded   bool   `json:"bounded"`                   // values are passes, or scores from 0 to 100
	LowerBest bool   `json:"lower_is_better,omitempty"` // lower values are better
}

// lower reports whether lower values of the cell are better.
func (c *Cell) lower() bool { return c.Metric != nil && c.Metric.LowerBest }

// lower reports whether lower values are better in all cells.
func (r *Results) lower() bool {
	return len(r.Cells) > 0 && !slices.ContainsFunc(r.Cells, func(c Cell) bool { return !c.lower() })
}

// Checkpoint is a verdict.Checkpoint with measurements. Groups has an entry for each of verdict.Groups. A
// problem that gives scores has one checkpoint, whose Name is empty.
type Checkpoint struct {
	Name                  string              `json:"name"` // "" for the only checkpoint of a problem with scores
	Passed                bool                `json:"passed"`
	Policy                string              `json:"policy"`                         // pass rule
	Vacuous               bool                `json:"vacuous"`                        // passed, and no test matched Policy
	Class                 verdict.Class       `json:"class"`                          // how the run ended
	Message               *string             `json:"message"`                        // a readable line
	Culprit               *Culprit            `json:"culprit,omitempty"`              // of Message, if another node kept the checkpoint from its verdict
	Score                 *float64            `json:"score,omitempty"`                // from 0 to 100, or beyond if the problem says so; missing without a score
	ScoreUnbounded        *float64            `json:"score_unbounded,omitempty"`      // score without an upper bound
	ScoreText             string              `json:"score_text,omitempty"`           // "nan", "inf" or "-inf" if the grader returned that; the score is then missing
	ScoreUnboundedText    string              `json:"score_unbounded_text,omitempty"` // the same for ScoreUnbounded
	ExitCode              *int                `json:"exit_code"`                      // null when pytest never ran
	Collected             int                 `json:"collected"`                      // tests
	InfrastructureFailure bool                `json:"infrastructure_failure"`         // exit code 2 to 5, or nothing collected; no verdict depends on it
	DurationMS            float64             `json:"duration_ms"`                    // of the pytest session
	Isolation             string              `json:"isolation,omitempty"`            // of a local backend's commands: "full", "partial" or "none"
	Import                string              `json:"import,omitempty"`               // where an importing grader runs the submission: "separate" or "in-process"; "" means unknown
	Groups                verdict.GroupCounts `json:"groups"`                         // all four, in their order
	Tests                 []Test              `json:"tests"`
	// Figures are the measurements of tasks, by "TASK.METRIC". They do not affect the verdict.
	Figures map[string]float64 `json:"figures,omitempty"`
	// For last known results: the run, if it differs from that of the results, and the state of an out-of-date
	// verdict: "stale" or another state of eval.Decision. "" means up to date.
	Run   string `json:"run,omitempty"`
	State string `json:"state,omitempty"`
}

// Culprit is a node that broke or failed, and its own message.
type Culprit struct {
	Addr    string `json:"addr"` // of the node
	Message string `json:"message"`
}

// Trouble returns why a checkpoint has no verdict. Checkpoints with the same trouble have equal texts.
func (c *Checkpoint) Trouble() string {
	switch {
	case c.Culprit != nil:
		return c.Culprit.Message
	case c.Message != nil:
		return *c.Message
	}
	return ""
}

// StateUnknown is the State of a verdict that may be out of date.
const StateUnknown = "unknown"

// Test is the verdict on a test of a checkpoint, with measurements.
type Test struct {
	verdict.Test
	DurationMS  float64  `json:"duration_ms"`            // from start to end
	Message     *string  `json:"message"`                // why it failed, shortened beyond 64 KiB
	CPUMS       *float64 `json:"cpu_ms,omitempty"`       // processor time
	MemoryBytes *int64   `json:"memory_bytes,omitempty"` // at the peak
}
