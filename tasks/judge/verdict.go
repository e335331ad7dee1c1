package judge

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/backend"
)

// The verdicts on a case.
const (
	Accepted          = "AC"
	WrongAnswer       = "WA"
	PresentationError = "PE"
	Points            = "points" // part of the points of the case
	TimeLimit         = "TLE"
	MemoryLimit       = "MLE"
	OutputLimit       = "OLE"
	RuntimeError      = "RE"
	CheckerFailed     = "checker failed" // it gave no verdict
)

// Verdict is the content of OutputVerdict. Ratio is the earned share of the points; a nil Ratio means NaN.
type Verdict struct {
	Verdict        string   `json:"verdict"`
	Ratio          *float64 `json:"ratio"`
	RatioUnbounded *float64 `json:"ratio_unbounded"`
	Message        string   `json:"message,omitempty"`
}

// OutputVerdict is the output of Check and Interact with a Verdict.
const OutputVerdict = "verdict"

// end is the content of OutputExit: a program's ending without measurements. The zero Status means that
// there was no program.
type end struct {
	Status backend.EndingStatus `json:"status"`
	Code   int                  `json:"code,omitempty"`
	Signal string               `json:"signal,omitempty"`
}

func endOf(e backend.Ending) end { return end{e.Status, e.Code, e.Signal} }

// clean reports whether the program ended as it should.
func (e end) clean() bool { return e.Status == backend.Exited && e.Code == 0 }

// blame returns the verdict on a solution whose program ended badly, and the reason.
func (e end) blame() (verdict, why string) {
	switch e.Status {
	case backend.CPULimit:
		return TimeLimit, "the limit of processor time"
	case backend.ClockLimit:
		return TimeLimit, "the limit of time from start to end"
	case backend.MemoryLimit:
		return MemoryLimit, ""
	case backend.OutputLimit:
		return OutputLimit, ""
	case backend.Signalled:
		return RuntimeError, "signal: " + e.Signal
	case "":
		return RuntimeError, "the program is missing"
	}
	return RuntimeError, fmt.Sprintf("exit status %d", e.Code)
}

// String describes how a program ended.
func (e end) String() string {
	switch e.Status {
	case backend.Exited:
		return fmt.Sprintf("exit status %d", e.Code)
	case backend.Signalled:
		return "signal: " + e.Signal
	case "":
		return "the program is missing"
	}
	return string(e.Status)
}

// transcript is a log with the messages of programs for users, and how each ended.
type transcript []byte

// say adds a program's output on separate lines.
func (t *transcript) say(said []byte) {
	*t = append(*t, said...)
	if len(said) > 0 && said[len(said)-1] != '\n' {
		*t = append(*t, '\n')
	}
}

func (t *transcript) add(name string, said []byte, e end) {
	t.say(said)
	*t = fmt.Appendf(*t, "[%s: %s]\n", name, e)
}

// failedError reports that a checker or interactor gave no verdict.
type failedError struct{ why string }

func (e *failedError) Error() string { return CheckerFailed + ": " + e.why }

// Fault implements graph.Faulty.
func (e *failedError) Fault() string { return CheckerFailed }
