// Package report is the result of an evaluation as people and programs read
// it: the model, and its renderings as table, JSON, JSON lines, CSV, Markdown,
// JUnit XML and CTRF. It runs nothing and reads no test's output: tasks makes
// a Results, and what is here orders it, counts it, and writes it down.
//
//	r.Sort(order)
//	err := report.Write(os.Stdout, "junit", r, report.Options{})
//	os.Exit(report.Summarize(r, nil).Exit)
//
// Every rendering keeps one rule: reading it alone never gives a better
// verdict than the model holds. What could not be judged, and a cell that
// broke before its first checkpoint, has a row of its own in each of them.
package report

// Schema is the version of the JSON form. Field names are stable; new ones
// may be added.
const Schema = 1

// Group of a test. The order of Groups is the order of display.
type Group string

const (
	Core          Group = "core"
	Functionality Group = "functionality"
	Regression    Group = "regression"
	ErrorGroup    Group = "error"
)

// Groups lists every group in display order.
var Groups = [...]Group{Core, Functionality, Regression, ErrorGroup}

// Results is the whole outcome of a run. Cells are sorted by problem,
// solution, backend, repeat; checkpoints by their order; tests in report order.
type Results struct {
	Schema int    `json:"schema"`
	Run    string `json:"run"`
	Cells  []Cell `json:"cells"`
}

// Status of a cell.
type Status string

const (
	Success  Status = "success" // every checkpoint asked for was judged, whatever its tests said
	Error    Status = "error"   // the submission kept a checkpoint from being judged
	TimedOut Status = "timeout" // a session limit ended a checkpoint
	Skipped  Status = "skipped" // nothing to judge
	Broken   Status = "broken"  // infrastructure kept a checkpoint from being judged
)

// Cell is one solution on one backend. A score is null when there is none; 0
// is a score.
type Cell struct {
	Problem        string            `json:"problem"`
	Solution       string            `json:"solution"`
	Backend        string            `json:"backend"`
	Repeat         int               `json:"repeat"`
	Suites         []string          `json:"suites,omitempty"`
	Labels         map[string]string `json:"labels,omitempty"`
	Status         Status            `json:"status"`
	Score          *float64          `json:"score"`
	ScoreUnbounded *float64          `json:"score_unbounded"`
	Message        *string           `json:"message"`
	Imported       *Imported         `json:"imported,omitempty"` // of a cell that another tool judged
	Checkpoints    []Checkpoint      `json:"checkpoints"`
}

// Class tells how a checkpoint's test run ended.
type Class string

const (
	Judged          Class = "judged"           // pytest ran and reported
	CollectionError Class = "collection_error" // pytest could not import or collect
	NoTests         Class = "no_tests"         // pytest collected nothing
	NoReport        Class = "no_report"        // pytest ended without a usable report
	Killed          Class = "killed"           // a signal ended pytest
	SessionTimeout  Class = "timeout"          // the session limit ended pytest
	PytestFailed    Class = "pytest_failed"    // interrupted, usage or internal error of pytest
	InputError      Class = "input_error"      // a file that the configuration names could not be used, or the problem is invalid
	CompileError    Class = "compile_error"    // the submission does not compile
	NoSubmission    Class = "no_submission"    // the configuration says that making the submission failed
	NoScore         Class = "no_score"         // the problem's program ended and gave no score
	CheckerFailed   Class = "checker_failed"   // the problem's own checker or interactor gave no verdict on a case
	NotJudged       Class = "broken"           // infrastructure; no verdict exists
	ImportedVerdict Class = "imported"         // another tool's verdict, which nothing here believes unless asked to
	NotReached      Class = "skipped"          // the run did not come to it, or the machine lacks a device that it needs
)

// Checkpoint is one graded checkpoint. Groups has an entry for each of Groups.
// InfrastructureFailure follows SCBench's rule: pytest exit code 2 to 5, or
// nothing collected; it is also set when infrastructure kept pytest from running.
//
// A problem that gives scores has one checkpoint, whose Name is empty. Its
// tests, if it has any, are its cases.
type Checkpoint struct {
	Name                  string      `json:"name"`
	Passed                bool        `json:"passed"`
	Policy                string      `json:"policy"`
	Vacuous               bool        `json:"vacuous"` // passed, and Policy had no test to look at
	Class                 Class       `json:"class"`
	Message               *string     `json:"message"`
	Score                 *float64    `json:"score,omitempty"`                // from 0 to 100, or beyond when the problem says so; nil is none
	ScoreUnbounded        *float64    `json:"score_unbounded,omitempty"`      // what the score is without an upper bound
	ScoreText             string      `json:"score_text,omitempty"`           // "nan", "inf" or "-inf", when that is what was given as the score, which then is nil
	ScoreUnboundedText    string      `json:"score_unbounded_text,omitempty"` // likewise
	ExitCode              *int        `json:"exit_code"`                      // null when pytest never ran
	Collected             int         `json:"collected"`
	InfrastructureFailure bool        `json:"infrastructure_failure"`
	DurationMS            float64     `json:"duration_ms"` // of the pytest session
	Groups                GroupCounts `json:"groups"`
	Tests                 []Test      `json:"tests"`
}

// GroupCounts has an entry for each of Groups. As JSON it is an object that
// always holds all four, in display order.
type GroupCounts map[Group]Count

// Count of tests in a group. Skipped tests count in Total and not in Passed.
type Count struct {
	Passed int `json:"passed"`
	Total  int `json:"total"`
}

// TestStatus is the verdict for one test.
type TestStatus string

const (
	TestPassed  TestStatus = "passed"
	TestFailed  TestStatus = "failed"
	TestSkipped TestStatus = "skipped"
	TestError   TestStatus = "error"
)

// Test is one test of a checkpoint. ID is the pytest node id after the first
// "::"; File is what stands before it.
type Test struct {
	ID         string     `json:"id"`
	File       string     `json:"file"`
	Checkpoint string     `json:"checkpoint"`
	Group      Group      `json:"group"`
	Status     TestStatus `json:"status"`
	DurationMS float64    `json:"duration_ms"`
	Message    *string    `json:"message"`
	// Of a case of a scored problem. It passed when its ratio is exactly 1.
	Verdict        string   `json:"verdict,omitempty"`         // "AC", "WA", "TLE" ...; one that says more than Status
	Ratio          *float64 `json:"ratio,omitempty"`           // what it earned of what it can earn
	RatioUnbounded *float64 `json:"ratio_unbounded,omitempty"` // the same without an upper bound
	CPUMS          *float64 `json:"cpu_ms,omitempty"`          // processor time in milliseconds; DurationMS is from start to end
	MemoryBytes    *int64   `json:"memory_bytes,omitempty"`
}
