package report

import (
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Imported is the result that another tool reported for a solution and a problem. The files are the same here,
// as far as the tool recorded them. Scores are as in Checkpoint.
type Imported struct {
	From               string         `json:"from"` // file that the result was read from
	Status             verdict.Status `json:"status"`
	Score              *float64       `json:"score"`
	ScoreUnbounded     *float64       `json:"score_unbounded"`
	ScoreText          string         `json:"score_text,omitempty"` // "nan", "inf" or "-inf" if the score is not finite
	ScoreUnboundedText string         `json:"score_unbounded_text,omitempty"`
	Message            string         `json:"message,omitempty"`
	When               string         `json:"when,omitempty"` // as the other tool wrote it
}

// ImportedBackend is the backend name of cells that were not judged here.
const ImportedBackend = "imported"

// Cell returns a cell that shows the imported result. It was not judged: its class is ImportedVerdict, it has
// no score, and passes nothing.
func (i *Imported) Cell(problem, solution string) Cell {
	told := []string{"imported, not judged here: " + string(i.Status)}
	for _, score := range []string{formatExact(i.Score) + i.ScoreText, formatExact(i.ScoreUnbounded) + i.ScoreUnboundedText} {
		if score != "" {
			told = append(told, score)
		}
	}
	message := strings.Join(told, " ")
	if i.Message != "" {
		message += ": " + i.Message
	}
	return Cell{
		Problem: problem, Solution: solution, Backend: ImportedBackend, Repeat: 1, Status: verdict.Skipped, Message: &message, Imported: i,
		Checkpoints: []Checkpoint{{Class: verdict.ImportedVerdict, Message: &message, Groups: verdict.NoTestCounts(), Tests: []Test{}}},
	}
}

// Counted returns the cell as if the imported result had been determined here. A policy decides whether it
// passed.
func (i *Imported) Counted(problem, solution string) Cell {
	cell := i.Cell(problem, solution)
	cell.Status, cell.Score, cell.ScoreUnbounded = i.Status, i.Score, i.ScoreUnbounded
	c := &cell.Checkpoints[0]
	c.Score, c.ScoreUnbounded, c.ScoreText, c.ScoreUnboundedText = i.Score, i.ScoreUnbounded, i.ScoreText, i.ScoreUnboundedText
	switch i.Status {
	case verdict.Success:
		c.Class = verdict.Judged
	case verdict.Error:
		c.Class = verdict.NoScore
	case verdict.TimedOut:
		c.Class = verdict.SessionTimeout
	case verdict.Skipped:
		c.Class = verdict.NotRun
	default:
		c.Class = verdict.NotJudged
	}
	return cell
}
