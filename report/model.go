// Package report is the result of an evaluation as people and programs read
// it: the model, and its renderings as table, JSON, JSON lines, CSV, Markdown,
// JUnit XML and CTRF. It runs nothing, reads no test's output and decides no
// verdict: package verdict has these, and the form in which a store holds them.
// Here they are ordered, counted and written for readers.
//
//	r.Sort(order)
//	err := report.Write(os.Stdout, "junit", r, report.Options{})
//	os.Exit(report.Summarize(r, nil).Exit)
//
// Every rendering keeps one rule: reading it alone never gives a better
// verdict than the model holds. What could not be judged, and a cell that
// broke before its first checkpoint, has a row of its own in each of them.
package report

import "github.com/fevalgraph/fevalgraph/verdict"

// Schema is the version of the JSON form. Field names are stable; new ones
// may be added.
const Schema = 1

// Results is the whole outcome of a run. Cells are sorted by problem,
// solution, backend, repeat; checkpoints by their order; tests in report order.
type Results struct {
	Schema int    `json:"schema"` // 1; it changes when the meaning of a field does
	Run    string `json:"run"`    // its id; that of the latest run for last known results
	Cells  []Cell `json:"cells"`
	Tasks  []Task `json:"tasks,omitempty"` // by name
}

// Cell is one solution on one backend. A score is null when there is none; 0
// is a score.
type Cell struct {
	Problem        string            `json:"problem"`
	Solution       string            `json:"solution"`
	Backend        string            `json:"backend"`
	Repeat         int               `json:"repeat"`           // from 1
	Suites         []string          `json:"suites,omitempty"` // that contain the cell
	Labels         map[string]string `json:"labels,omitempty"` // of the solution
	Status         verdict.Status    `json:"status"`
	Score          *float64          `json:"score"`              // mean of the checkpoints, from 0 to 100; null without scores
	ScoreUnbounded *float64          `json:"score_unbounded"`    // the same without an upper bound
	Message        *string           `json:"message"`            // of the first checkpoint with one
	Imported       *Imported         `json:"imported,omitempty"` // of a cell that another tool judged
	Recorded       *Recorded         `json:"recorded,omitempty"` // of a solution that another program recorded
	Checkpoints    []Checkpoint      `json:"checkpoints"`
}

// Checkpoint is a verdict.Checkpoint with what was measured of its run. Groups
// has an entry for each of verdict.Groups. A problem that gives scores has one
// checkpoint, whose Name is empty.
type Checkpoint struct {
	Name                  string              `json:"name"` // "" for the only checkpoint of a problem with scores
	Passed                bool                `json:"passed"`
	Policy                string              `json:"policy"`                         // that decided about Passed
	Vacuous               bool                `json:"vacuous"`                        // passed, and Policy had no test to look at
	Class                 verdict.Class       `json:"class"`                          // how the run ended
	Message               *string             `json:"message"`                        // a readable line
	Culprit               *Culprit            `json:"culprit,omitempty"`              // of Message, if another node kept the checkpoint from its verdict
	Score                 *float64            `json:"score,omitempty"`                // from 0 to 100, or beyond when the problem says so; nil is none
	ScoreUnbounded        *float64            `json:"score_unbounded,omitempty"`      // what the score is without an upper bound
	ScoreText             string              `json:"score_text,omitempty"`           // "nan", "inf" or "-inf", when that is what was given as the score, which then is nil
	ScoreUnboundedText    string              `json:"score_unbounded_text,omitempty"` // the same of ScoreUnbounded
	ExitCode              *int                `json:"exit_code"`                      // null when pytest never ran
	Collected             int                 `json:"collected"`                      // tests
	InfrastructureFailure bool                `json:"infrastructure_failure"`         // exit code 2 to 5, or nothing collected; no verdict depends on it
	DurationMS            float64             `json:"duration_ms"`                    // of the pytest session
	Isolation             string              `json:"isolation,omitempty"`            // of a local backend's commands: "full", "partial" or "none"
	Import                string              `json:"import,omitempty"`               // where a grader that imports the submission runs it: "separate" or "in-process"; "" is unknown
	Groups                verdict.GroupCounts `json:"groups"`                         // all four, in their order
	Tests                 []Test              `json:"tests"`
	// Figures are what tasks measured of the solution, by "TASK.METRIC". They are no part of
	// the verdict.
	Figures map[string]float64 `json:"figures,omitempty"`
	// Of last known results: the run, if it is not that of the results, and how the
	// verdict fails to hold: "stale", or another state of eval.Decision. "" is one that holds.
	Run   string `json:"run,omitempty"`
	State string `json:"state,omitempty"`
}

// Culprit is a node that broke or failed, and its own message.
type Culprit struct {
	Addr    string `json:"addr"` // of the node
	Message string `json:"message"`
}

// Trouble returns why a checkpoint has no verdict, in words that are the same for each checkpoint
// with the same trouble.
func (c *Checkpoint) Trouble() string {
	switch {
	case c.Culprit != nil:
		return c.Culprit.Message
	case c.Message != nil:
		return *c.Message
	}
	return ""
}

// StateUnknown is the State of a verdict of which it is not known whether it holds.
const StateUnknown = "unknown"

// Test is the verdict on one test of a checkpoint, with what was measured of it.
type Test struct {
	verdict.Test
	DurationMS  float64  `json:"duration_ms"`            // from start to end
	Message     *string  `json:"message"`                // why it failed, shortened beyond 64 KiB
	CPUMS       *float64 `json:"cpu_ms,omitempty"`       // processor time
	MemoryBytes *int64   `json:"memory_bytes,omitempty"` // at the peak
}
