package backend

import (
	"context"
	"time"
)

// JudgeServer grades whole submissions, with a copy of the problems that it
// has itself. Where a Sandbox runs one program at a time and leaves it to its
// caller what follows from that, a JudgeServer compiles, runs, checks and adds
// up unseen.
//
// Methods are safe for concurrent use. As with a Backend, an error means that
// the machinery broke and the submission can be handed in again.
type JudgeServer interface {
	// Identity resolves what enters keys. What the server's own problems
	// are like is not part of it: they cannot be known outside.
	Identity(ctx context.Context) (Identity, error)
	// Name tells servers apart on this machine. Submissions to one follow each other.
	Name() string
	// Grade hands a submission in and waits for its result.
	Grade(ctx context.Context, s Submission) (*Grade, error)
}

// Submission is a program for a problem of a server.
type Submission struct {
	Problem  string // the server's name of it
	Language string // "cpp" or "python"
	Code     []byte
}

// Grade is a server's judgement on a submission.
type Grade struct {
	// Rejected is why the submission could not be run, a compiler's text for
	// example; then there is nothing else. Empty is a submission that was run.
	Rejected       string
	Score          *float64 // from 0 to 100, or beyond; nil if the server gave no number
	ScoreUnbounded *float64 // likewise
	Cases          []GradedCase
}

// GradedCase is the result of one test case.
type GradedCase struct {
	Ratio          *float64 // earned share of the points; nil if the server gave no number
	RatioUnbounded *float64
	Message        string // what the checker or the program said
	// Silent reports that nothing was earned and nothing is said about it: the
	// program can have been stopped, and the server can have failed.
	Silent bool
	Clock  time.Duration // of the program, from start to end
	Memory int64         // bytes
}
