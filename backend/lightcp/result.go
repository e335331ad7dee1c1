package lightcp

import (
	"encoding/json"
	"fmt"
)

// Result is the server's answer about a submission.
type Result struct {
	// Status is "done" for a judged submission, with any score, and otherwise "error", with the reason in
	// Error.
	Status         string   `json:"status"`
	Error          string   `json:"error,omitempty"`
	Passed         bool     `json:"passed"`
	Result         string   `json:"result,omitempty"`
	Score          *float64 `json:"score"`          // 0 to 100; nil for a number that JSON cannot represent
	ScoreUnbounded *float64 `json:"scoreUnbounded"` // as Score
	Cases          []Case   `json:"cases"`
}

// Judged reports whether the result is about the submission: it was judged, or
// does not compile. Other errors are the server's own, or its problem's.
func (r *Result) Judged() bool {
	_, rejected := rejection(r.Error)
	return r.Status == Done || rejected
}

// The values of Result.Status.
const (
	Done   = "done"
	Failed = "error"
)

// Case is a test case of a result.
type Case struct {
	OK bool `json:"ok"`
	// Status is "Correct" or "Wrong Answer": the server does not report exceeded limits.
	Status         string   `json:"status"`
	Time           int64    `json:"time"`   // nanoseconds
	Memory         int64    `json:"memory"` // bytes
	Message        string   `json:"msg"`
	Ratio          *float64 `json:"scoreRatio"` // nil for a number that JSON cannot represent
	RatioUnbounded *float64 `json:"scoreRatioUnbounded"`
}

// Silent reports whether the case scored 0 without a message: the server reports that for a program that
// was stopped without output, and for a failure of its sandbox.
func (c *Case) Silent() bool {
	return !c.OK && c.Message == "" && (c.Ratio == nil || *c.Ratio == 0)
}

// decodeResult reads a final result. It omits outputs of the program, which can be large.
func decodeResult(text []byte) (*Result, error) {
	var r struct {
		Result
		Message string `json:"message"` // its name on some servers
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("the result is not a valid JSON object: %w", err)
	}
	switch r.Status {
	case Done:
	case Failed:
		if r.Result.Error == "" {
			r.Result.Error = r.Message
		}
		if r.Result.Error == "" {
			return nil, fmt.Errorf("the result is an error without a reason")
		}
	default:
		return nil, fmt.Errorf("unknown status %q", r.Status)
	}
	return &r.Result, nil
}
