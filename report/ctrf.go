package report

import (
	"io"
	"math"
	"time"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// ctrfVersion is the implemented version of the CTRF specification.
const ctrfVersion = "0.0.0"

// The Common Test Report Format: a flat list of tests, with durations in whole milliseconds and times in
// milliseconds since 1970.
type (
	ctrfReport struct {
		Format  string      `json:"reportFormat"`
		Version string      `json:"specVersion"`
		Results ctrfResults `json:"results"`
	}
	ctrfResults struct {
		Tool    ctrfTool    `json:"tool"`
		Summary ctrfSummary `json:"summary"`
		Tests   []ctrfTest  `json:"tests"`
		Extra   ctrfRun     `json:"extra"`
	}
	ctrfTool struct {
		Name string `json:"name"`
	}
	ctrfRun struct {
		Run string `json:"run"`
	}
	ctrfSummary struct {
		Tests   int   `json:"tests"`
		Passed  int   `json:"passed"`
		Failed  int   `json:"failed"`
		Pending int   `json:"pending"`
		Skipped int   `json:"skipped"`
		Other   int   `json:"other"`
		Suites  int   `json:"suites"`
		Start   int64 `json:"start"`
		Stop    int64 `json:"stop"`
	}
	ctrfTest struct {
		Name      string    `json:"name"`
		Status    string    `json:"status"`
		RawStatus string    `json:"rawStatus"`
		Duration  int64     `json:"duration"`
		Suite     []string  `json:"suite"`
		Message   string    `json:"message,omitempty"`
		Tags      []string  `json:"tags,omitempty"`
		FilePath  string    `json:"filePath,omitempty"`
		Extra     ctrfExtra `json:"extra"`
	}
	ctrfExtra struct {
		Problem        string        `json:"problem"`
		Solution       string        `json:"solution"`
		Backend        string        `json:"backend"`
		Repeat         int           `json:"repeat"`
		Checkpoint     string        `json:"checkpoint"`
		TestCheckpoint string        `json:"test_checkpoint,omitempty"`
		Group          verdict.Group `json:"group,omitempty"`

		Score          *float64 `json:"score,omitempty"`
		ScoreUnbounded *float64 `json:"score_unbounded,omitempty"`
		Ratio          *float64 `json:"ratio,omitempty"`
		RatioUnbounded *float64 `json:"ratio_unbounded,omitempty"`
		CPUMS          *float64 `json:"cpu_ms,omitempty"`
		MemoryBytes    *int64   `json:"memory_bytes,omitempty"`
	}
)

func writeCTRF(w io.Writer, r *Results, o Options) error {
	rows := rowsOf(r)
	out := ctrfResults{Tool: ctrfTool{"fevalgraph"}, Tests: []ctrfTest{}, Extra: ctrfRun{r.Run}}
	out.Summary.Suites = len(rows)
	out.Summary.Start, out.Summary.Stop = millis(o.Start), millis(o.Stop)
	for _, row := range rows {
		cell, c := row.cell, row.checkpoint
		suite := []string{suiteName(row)}
		extra := ctrfExtra{
			Problem: cell.Problem, Solution: cell.Solution, Backend: cell.Backend, Repeat: cell.Repeat, Checkpoint: c.Name,
			Score: c.Score, ScoreUnbounded: c.ScoreUnbounded,
		}
		for _, t := range c.Tests {
			extra := extra
			extra.TestCheckpoint, extra.Group = t.Checkpoint, t.Group
			extra.Ratio, extra.RatioUnbounded, extra.CPUMS, extra.MemoryBytes = t.Ratio, t.RatioUnbounded, t.CPUMS, t.MemoryBytes
			out.add(ctrfTest{
				Name: orName(t.ID, t.File), RawStatus: orName(t.Verdict, string(t.Status)), Duration: int64(math.Round(t.DurationMS)),
				Suite: suite, Message: messageOr(t.Message, ""), Tags: []string{string(t.Group)}, FilePath: t.File, Extra: extra,
			}, ctrfStatus(t.Status))
		}
		if m := caseOf(c); m != nil {
			message := m.message
			if own := row.message(); own != "" {
				message = own
			}
			out.add(ctrfTest{
				Name: orName(c.Name, cell.Problem), RawStatus: m.kind, Suite: suite, Message: message, Extra: extra,
			}, ctrfRemark(m.outcome))
		}
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		out.add(ctrfTest{
			Name: t.Name, RawStatus: t.Outcome, Duration: int64(math.Round(t.Seconds * 1000)), Suite: []string{"tasks"}, Message: t.Message,
		}, ctrfRemark(t.Verdict()))
	}
	if len(r.Tasks) > 0 {
		out.Summary.Suites++
	}
	return encoder(w).Encode(ctrfReport{Format: "CTRF", Version: ctrfVersion, Results: out})
}

func (r *ctrfResults) add(t ctrfTest, status string) {
	t.Status = status
	r.Tests = append(r.Tests, t)
	r.Summary.Tests++
	switch status {
	case "passed":
		r.Summary.Passed++
	case "failed":
		r.Summary.Failed++
	case "skipped":
		r.Summary.Skipped++
	default:
		r.Summary.Other++
	}
}

// ctrfStatus maps a test's status. CTRF has no status for a test whose set-up raised: it counts as failed, and
// rawStatus keeps the difference.
func ctrfStatus(s verdict.TestStatus) string {
	switch s {
	case verdict.TestPassed:
		return "passed"
	case verdict.TestSkipped:
		return "skipped"
	}
	return "failed"
}

// ctrfRemark maps the outcome of a checkpoint or a task. CTRF has no status for broken, which is "other".
func ctrfRemark(v verdict.Outcome) string {
	switch v {
	case verdict.OutcomePassed, verdict.OutcomeScored:
		return "passed"
	case verdict.OutcomeFailed, verdict.OutcomeNotReached, verdict.OutcomeErrored:
		return "failed"
	case verdict.OutcomeSkipped:
		return "skipped"
	}
	return "other"
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
