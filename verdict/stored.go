package verdict

import (
	"encoding/json"
	"fmt"
)

// StoredVersion is the version of the stored form of a Checkpoint, and of the
// JSON of Measurements, Cell and Suite. The first version states no number. A
// change of the form raises it together with the recipes of the tasks that write
// it, so that no task reads a form which it does not know.
const StoredVersion = 1

// storedCheckpoint is a Checkpoint as blobs of version 1 hold it. Message and
// DurationMS were never filled in.
type storedCheckpoint struct {
	Version               int          `json:"version,omitempty"` // 0 is 1
	Name                  string       `json:"name"`
	Passed                bool         `json:"passed"`
	Policy                string       `json:"policy"`
	Vacuous               bool         `json:"vacuous"`
	Class                 Class        `json:"class"`
	Message               *struct{}    `json:"message"`
	Score                 *float64     `json:"score,omitempty"`
	ScoreUnbounded        *float64     `json:"score_unbounded,omitempty"`
	ScoreText             string       `json:"score_text,omitempty"`
	ScoreUnboundedText    string       `json:"score_unbounded_text,omitempty"`
	ExitCode              *int         `json:"exit_code"`
	Collected             int          `json:"collected"`
	InfrastructureFailure bool         `json:"infrastructure_failure"`
	DurationMS            int          `json:"duration_ms"`
	Groups                GroupCounts  `json:"groups"`
	Tests                 []storedTest `json:"tests"`
}

// storedTest is a Test likewise.
type storedTest struct {
	ID             string     `json:"id"`
	File           string     `json:"file"`
	Checkpoint     string     `json:"checkpoint"`
	Group          Group      `json:"group"`
	Status         TestStatus `json:"status"`
	DurationMS     int        `json:"duration_ms"`
	Message        *struct{}  `json:"message"`
	Verdict        string     `json:"verdict,omitempty"`
	Ratio          *float64   `json:"ratio,omitempty"`
	RatioUnbounded *float64   `json:"ratio_unbounded,omitempty"`
}

// MarshalJSON returns the stored form of c. Equal checkpoints have equal bytes.
func (c Checkpoint) MarshalJSON() ([]byte, error) {
	s := storedCheckpoint{
		Name: c.Name, Passed: c.Passed, Policy: c.Policy, Vacuous: c.Vacuous, Class: c.Class,
		Score: c.Score.Bounded, ScoreUnbounded: c.Score.Unbounded, ScoreText: c.Score.BoundedText, ScoreUnboundedText: c.Score.UnboundedText,
		ExitCode: c.ExitCode, Collected: c.Collected, InfrastructureFailure: c.InfrastructureFailure,
		Groups: c.Groups, Tests: make([]storedTest, len(c.Tests)),
	}
	for i, t := range c.Tests {
		s.Tests[i] = storedTest{
			ID: t.ID, File: t.File, Checkpoint: t.Checkpoint, Group: t.Group, Status: t.Status,
			Verdict: t.Verdict, Ratio: t.Ratio, RatioUnbounded: t.RatioUnbounded,
		}
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads the stored form. An unknown version is an error.
func (c *Checkpoint) UnmarshalJSON(blob []byte) error {
	var s storedCheckpoint
	if err := json.Unmarshal(blob, &s); err != nil {
		return err
	}
	if s.Version < 0 || s.Version > StoredVersion {
		return fmt.Errorf("a verdict is stored in form %d; known is %d", s.Version, StoredVersion)
	}
	*c = Checkpoint{
		Name: s.Name, Passed: s.Passed, Policy: s.Policy, Vacuous: s.Vacuous, Class: s.Class,
		Score:    Score{Bounded: s.Score, Unbounded: s.ScoreUnbounded, BoundedText: s.ScoreText, UnboundedText: s.ScoreUnboundedText},
		ExitCode: s.ExitCode, Collected: s.Collected, InfrastructureFailure: s.InfrastructureFailure,
		Groups: s.Groups, Tests: make([]Test, len(s.Tests)),
	}
	for i, t := range s.Tests {
		c.Tests[i] = Test{
			ID: t.ID, File: t.File, Checkpoint: t.Checkpoint, Group: t.Group, Status: t.Status,
			Verdict: t.Verdict, Ratio: t.Ratio, RatioUnbounded: t.RatioUnbounded,
		}
	}
	return nil
}
