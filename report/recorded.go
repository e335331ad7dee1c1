package report

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// Recorded is the verdict that another program recorded when it made a cell's solution. It decides nothing
// here.
type Recorded struct {
	By    string   `json:"by"`              // the program
	Score *float64 `json:"score"`           // null without a score
	Valid bool     `json:"valid"`           // whether the program accepts Score for the solution
	Cause string   `json:"cause,omitempty"` // class of the recorded error
	// Comparable is true if Score has the same scale as scores here. Solved is true if it is 1 for a solution that
	// passes and otherwise 0. Last is true if it is the score of the last reached checkpoint instead of the mean.
	Comparable bool `json:"comparable"`
	Solved     bool `json:"solved,omitempty"`
	Last       bool `json:"last,omitempty"`
	// Version is the digest of the problem that the solution answered, or "" if unknown. VersionHere is the
	// digest of the problem here if it differs, which can explain another score.
	Version     string               `json:"version,omitempty"`
	VersionHere string               `json:"version_here,omitempty"`
	Checkpoints []RecordedCheckpoint `json:"checkpoints,omitempty"`
}

// RecordedCheckpoint is the record of a named checkpoint.
type RecordedCheckpoint struct {
	Name    string   `json:"name"`
	Reached bool     `json:"reached"`
	Score   *float64 `json:"score"`
	Cause   string   `json:"cause,omitempty"`
}

// Comparison sums up recorded scores and the scores of the same cells here.
type Comparison struct {
	By           string
	Cells        int
	There        float64 // sum of recorded scores; a missing score counts 0, as in the other program
	Without      int     // cells without a recorded score
	Invalid      int     // with a score that the other program does not accept
	Outdated     int     // with a recorded version that differs from the problem here
	Compared     int     // cells whose scores have the same scale
	ThereOfThese float64 // part of There for Compared cells
	Here         float64 // sum of their scores here; a missing score counts 0
	HereAll      float64 // the same, with checkpoints that were not reached as 0
	Unjudged     int     // without a verdict here
	Other        int     // judged here with another score, or with a score that was not recorded
	Unreached    int     // in which some checkpoint was not reached
}

// add counts a cell.
func (c *Comparison) add(cell *Cell) {
	r := cell.Recorded
	if r == nil {
		return
	}
	c.By = r.By
	c.Cells++
	there := 0.0
	if r.Score == nil {
		c.Without++
	} else if there = *r.Score; !r.Valid {
		c.Invalid++
	}
	c.There = statistics.Saturated(c.There + there)
	if r.VersionHere != "" {
		c.Outdated++
	}
	if !r.Comparable {
		return
	}
	c.Compared++
	c.ThereOfThese = statistics.Saturated(c.ThereOfThese + there)
	here, all, unreached := cell.ScoreLike(r)
	if unreached {
		c.Unreached++
	}
	if here == nil {
		c.Unjudged++
		return
	}
	c.Here = statistics.Saturated(c.Here + *here)
	c.HereAll = statistics.Saturated(c.HereAll + all)
	if r.Score == nil || !almostEqual(*here, *r.Score) {
		c.Other++
	}
}

// ScoreLike returns the score in the manner of recorded results: the mean score of the checkpoints that were reached,
// the score of the last one, or 1 if all passed, by r.Last and r.Solved; nil if a checkpoint has no verdict. all counts
// checkpoints that were not reached as 0. r can be nil for the mean.
func (cell *Cell) ScoreLike(r *Recorded) (score *float64, all float64, unreached bool) {
	if r != nil && r.Solved {
		sample := cell.Sample()
		if v, ok := verdict.PassValue(&sample); ok {
			return &v, v, false
		}
		return nil, 0, false
	}
	last := r != nil && r.Last
	sum, n, judged := 0.0, 0, true
	listed := cell.Listed()
	for i := range listed {
		switch c := &listed[i]; {
		case c.Class == verdict.NotReached:
			unreached = true
		case c.Score == nil:
			judged = false
		case last:
			sum, n = *c.Score, 1
		default:
			sum = statistics.Saturated(sum + *c.Score)
			n++
		}
	}
	if !judged || n == 0 {
		return nil, 0, unreached
	}
	if score, all = new(float64), sum/float64(len(listed)); last {
		all = sum
		if unreached {
			all = 0
		}
	}
	*score = sum / float64(n)
	return score, all, unreached
}

// recordedNote returns the recorded result of a checkpoint if it differs from the one here; otherwise "".
func (r row) recordedNote() string {
	all := r.cell.Recorded
	if all == nil || !all.Comparable || len(all.Checkpoints) == 0 && len(r.cell.Checkpoints) > 1 {
		return ""
	}
	was := RecordedCheckpoint{Reached: true, Score: all.Score, Cause: all.Cause}
	for _, c := range all.Checkpoints {
		if c.Name == r.checkpoint.Name {
			was = c
		}
	}
	now := r.checkpoint.Score
	if all.Solved {
		now, _, _ = r.cell.ScoreLike(all)
	}
	said := ""
	switch {
	case !was.Reached || was.Score == nil && now == nil:
		return ""
	case was.Score == nil:
		said = strings.TrimSpace("recorded without a score " + was.Cause)
	case now == nil || !almostEqual(*now, *was.Score):
		said = "recorded as " + formatRounded(was.Score)
		if verdict, binary := map[float64]string{0: "failed", 1: "passed"}[*was.Score]; all.Solved && binary {
			said = "recorded as " + verdict
		}
	}
	if said != "" && all.VersionHere != "" {
		said += " with another version of the problem"
	}
	return said
}

// almostEqual reports whether a and b are equal but for rounding.
func almostEqual(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// Merge adds the counts of o.
func (c *Comparison) Merge(o *Comparison) {
	if o.By != "" {
		c.By = o.By
	}
	c.Cells += o.Cells
	c.There = statistics.Saturated(c.There + o.There)
	c.Without += o.Without
	c.Invalid += o.Invalid
	c.Outdated += o.Outdated
	c.Compared += o.Compared
	c.ThereOfThese = statistics.Saturated(c.ThereOfThese + o.ThereOfThese)
	c.Here = statistics.Saturated(c.Here + o.Here)
	c.HereAll = statistics.Saturated(c.HereAll + o.HereAll)
	c.Unjudged += o.Unjudged
	c.Other += o.Other
	c.Unreached += o.Unreached
}

// note returns the comparison as lines below a table; "" if nothing was recorded.
func (c *Comparison) note() string {
	if c.Cells == 0 {
		return ""
	}
	note := fmt.Sprintf("\nrecorded by %s: mean %s of %s", c.By, mean(c.There, c.Cells), text.Count(c.Cells, "cell"))
	if c.Without > 0 {
		note += fmt.Sprintf(", %d without a score as 0", c.Without)
	}
	if c.Invalid > 0 {
		note += fmt.Sprintf("; %d with a score that %s itself does not count as valid", c.Invalid, c.By)
	}
	if c.Outdated > 0 {
		note += fmt.Sprintf("; %d of another version of the problem, so scores can differ", c.Outdated)
	}
	if c.Compared == 0 {
		return note + "; scores here are of another kind"
	}
	note += "\nhere: mean " + mean(c.Here, c.Compared)
	if c.Compared < c.Cells {
		note += fmt.Sprintf(" of %d of these, recorded as %s", c.Compared, mean(c.ThereOfThese, c.Compared))
	}
	var why []string
	for _, part := range []struct {
		n    int
		what string
	}{{c.Unjudged, "without a verdict here, as 0"}, {c.Other, "with another score here"}} {
		if part.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if c.Unreached > 0 {
		why = append(why, fmt.Sprintf("%d with checkpoints that were not reached, which with these as 0 makes %s", c.Unreached, mean(c.HereAll, c.Compared)))
	}
	if len(why) == 0 {
		return note + "; every score is the recorded one"
	}
	return note + "; " + strings.Join(why, "; ")
}

func mean(sum float64, n int) string {
	m := sum / float64(n)
	return formatRounded(&m)
}
