package batch

import (
	"cmp"
	"math"
	"slices"
)

// Status of a result. Unlisted values count as Pending.
type Status string

const (
	Success Status = "success" // there is a score
	Error   Status = "error"
	Timeout Status = "timeout"
	Skipped Status = "skipped"
	Pending Status = "pending" // not judged yet
	Running Status = "running" // likewise; the batch was at it
)

// Complete reports whether a batch that goes on leaves the result alone.
func (s Status) Complete() bool { return s == Success || s == Error || s == Timeout || s == Skipped }

// Result of a pair. A score can be NaN or infinite; nil means no score.
type Result struct {
	Pair
	Score, Unbounded *float64
	Status           Status
	Message          string
	Seconds          float64 // 0 is not known
	Timestamp        string
	SolutionHash     string // of HashFile; "" is not known
	ProblemHash      string // of HashDirectory; likewise
}

func sorted(results []Result) []Result {
	return slices.SortedFunc(slices.Values(results), func(a, b Result) int { return cmp.Compare(a.ID(), b.ID()) })
}

func finite(f *float64) bool { return f != nil && !math.IsNaN(*f) && !math.IsInf(*f, 0) }
