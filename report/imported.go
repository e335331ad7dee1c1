package report

import (
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Imported is what another tool said about a cell's solution and problem, on
// files that are the same here as far as it says which they were. Scores are
// as in Checkpoint.
type Imported struct {
	From               string         `json:"from"` // the file that says so
	Status             verdict.Status `json:"status"`
	Score              *float64       `json:"score"`
	ScoreUnbounded     *float64       `json:"score_unbounded"`
	ScoreText          string         `json:"score_text,omitempty"` // "nan", "inf" or "-inf", if that is the score
	ScoreUnboundedText string         `json:"score_unbounded_text,omitempty"`
	Message            string         `json:"message,omitempty"`
	When               string         `json:"when,omitempty"` // in the other tool's words
}

// ImportedBackend stands for the backend of cells that were not judged here.
const ImportedBackend = "imported"

// Cell is a cell that shows what was imported. It was not judged: it has the
// class ImportedVerdict, no score, and passes nothing.
func (i *Imported) Cell(problem, solution string) Cell {
	told := []string{"imported, not judged here: " + string(i.Status)}
	for _, score := range []string{exact(i.Score) + i.ScoreText, exact(i.ScoreUnbounded) + i.ScoreUnboundedText} {
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

// Counted is the cell as if what was imported had been found out here. Whether
// it passed is for a policy to say.
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
