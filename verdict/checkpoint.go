package verdict

// Checkpoint is one graded checkpoint. Groups has an entry for each of Groups.
// InfrastructureFailure is set when pytest ended with exit code 2 to 5 or
// collected nothing, and when infrastructure kept pytest from running.
//
// A problem that gives scores has one checkpoint, whose Name is empty. Its
// tests, if it has any, are its cases.
type Checkpoint struct {
	Name                  string
	Passed                bool
	Policy                string // the text of the Rule that decided Passed
	Vacuous               bool   // passed, and Policy had no test to look at
	Class                 Class
	Score                 Score
	ExitCode              *int // of pytest; nil when it never ran
	Collected             int
	InfrastructureFailure bool
	Groups                GroupCounts
	Tests                 []Test // in report order
}

// TestStatus is the verdict for one test.
type TestStatus string

const (
	TestPassed  TestStatus = "passed"
	TestFailed  TestStatus = "failed"
	TestSkipped TestStatus = "skipped"
	TestError   TestStatus = "error"
)

// Ruled reports whether c has a rule to pass by. Without one its score is all there is
// to say of it.
func (c *Checkpoint) Ruled() bool { return Policy(c.Policy) != NoRule }

// Test is one test of a checkpoint. ID is the pytest node id after the first
// "::"; File is what stands before it.
type Test struct {
	ID         string
	File       string
	Checkpoint string // the checkpoint that brought the test in
	Group      Group
	Status     TestStatus
	// Of a case of a scored problem. It passed when its ratio is exactly 1.
	Verdict        string   // "AC", "WA", "TLE" ...; one that says more than Status
	Ratio          *float64 // what it earned of what it can earn; nil is none
	RatioUnbounded *float64 // the same without an upper bound
}
