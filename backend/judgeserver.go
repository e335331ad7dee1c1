package backend

import (
	"context"
	"time"
)

// JudgeServer grades whole submissions with its own copy of the problems. A
// Sandbox runs single programs and leaves judging to its caller; a JudgeServer
// compiles, runs, checks and adds up scores itself.
//
// Methods are safe for concurrent use. As with a Backend, an error means that
// the infrastructure failed and the submission can be sent again.
type JudgeServer interface {
	// Identity returns the part of keys that depends on the server. It does not
	// cover the server's problems, which are invisible from outside.
	Identity(ctx context.Context) (Identity, error)
	// Name identifies the server on this machine. Submissions to a server are sent
	// one after another.
	Name() string
	// Grade sends a submission and waits for its result.
	Grade(ctx context.Context, s Submission) (*Grade, error)
}

// Submission is a program for a problem of a server.
type Submission struct {
	Problem  string // its name on the server
	Language string // "cpp" or "python"
	Code     []byte
}

// Grade is a server's judgement on a submission.
type Grade struct {
	// Rejected is the reason why the submission could not be run, such as a
	// compiler's message; the other fields are then empty. It is "" for a
	// submission that was run.
	Rejected       string
	Score          *float64 // 0 to 100, sometimes more; nil if the server reported no number
	ScoreUnbounded *float64 // as Score
	Cases          []GradedCase
}

// GradedCase is the result of one test case.
type GradedCase struct {
	Ratio          *float64 // earned share of the points; nil if the server reported no number
	RatioUnbounded *float64
	Message        string // message of the checker or the program
	// Silent reports a score of 0 without a message: either the program was
	// stopped, or the server failed.
	Silent bool
	Clock  time.Duration // wall time of the program
	Memory int64         // bytes
}
