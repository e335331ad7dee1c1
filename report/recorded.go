package report

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Recorded is what another program recorded when a cell's solution was made: its own
// verdict, which decides nothing here.
type Recorded struct {
	By    string   `json:"by"`              // the program
	Score *float64 `json:"score"`           // null is none
	Valid bool     `json:"valid"`           // whether the program takes Score for the solution's
	Cause string   `json:"cause,omitempty"` // class of the error that the program recorded
	// Comparable says that Score is of the same scale as scores here. Solved says that it is 1 for a solution that
	// passes and else 0. Last says that it is that of the last checkpoint which was reached, not their mean.
	Comparable bool `json:"comparable"`
	Solved     bool `json:"solved,omitempty"`
	Last       bool `json:"last,omitempty"`
	// Version is a digest of the problem that the solution answered, "" if it is not known.
	// VersionHere is that of the problem here if it is another one: Score may differ for that reason.
	Version     string               `json:"version,omitempty"`
	VersionHere string               `json:"version_here,omitempty"`
	Checkpoints []RecordedCheckpoint `json:"checkpoints,omitempty"`
}

// RecordedCheckpoint is the record of a checkpoint that has a name.
type RecordedCheckpoint struct {
	Name    string   `json:"name"`
	Reached bool     `json:"reached"`
	Score   *float64 `json:"score"`
	Cause   string   `json:"cause,omitempty"`
}

// Comparison sums up scores that were recorded beside those of the same cells here. It is a
// plain value.
type Comparison struct {
	By           string
	Cells        int
	There        float64 // the recorded scores together, no score as 0, as the other program counts
	Without      int     // cells without a recorded score
	Invalid      int     // with one that the other program does not take for the solution's
	Outdated     int     // of another version of the problem than the one here
	Compared     int     // cells whose scores are of the same scale
	ThereOfThese float64 // what of There is theirs
	Here         float64 // their scores here, no score as 0
	HereAll      float64 // the same with checkpoints that were not reached as 0
	Unjudged     int     // without a verdict here
	Other        int     // judged here and with another score, or with a score where none was recorded
	Unreached    int     // in which not every checkpoint was reached
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
	c.There += there
	if r.VersionHere != "" {
		c.Outdated++
	}
	if !r.Comparable {
		return
	}
	c.Compared++
	c.ThereOfThese += there
	here, all, unreached := cell.scoreLike(r)
	if unreached {
		c.Unreached++
	}
	if here == nil {
		c.Unjudged++
		return
	}
	c.Here += *here
	c.HereAll += all
	if r.Score == nil || !near(*here, *r.Score) {
		c.Other++
	}
}

// scoreLike returns a cell's score as a recorded one is made: the mean over the checkpoints that were reached, the last
// of them, or 1 if all passed; nil if one of these has no verdict. all counts those that were not reached as 0.
func (cell *Cell) scoreLike(r *Recorded) (score *float64, all float64, unreached bool) {
	if r.Solved {
		sample := cell.Sample()
		if v, ok := verdict.PassValue(&sample); ok {
			return &v, v, false
		}
		return nil, 0, false
	}
	last := r.Last
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
			sum += *c.Score
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

// recorded says what another program recorded of a checkpoint with another score here; "" is
// nothing else than what is so here.
func (r row) recorded() string {
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
		now, _, _ = r.cell.scoreLike(all)
	}
	said := ""
	switch {
	case !was.Reached || was.Score == nil && now == nil:
		return ""
	case was.Score == nil:
		said = strings.TrimSpace("recorded without a score " + was.Cause)
	case now == nil || !near(*now, *was.Score):
		said = "recorded as " + rounded(was.Score)
		if verdict, binary := map[float64]string{0: "failed", 1: "passed"}[*was.Score]; all.Solved && binary {
			said = "recorded as " + verdict
		}
	}
	if said != "" && all.VersionHere != "" {
		said += " with another version of the problem"
	}
	return said
}

// near allows for the last digits of sums.
func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// Merge adds what o has counted.
func (c *Comparison) Merge(o *Comparison) {
	if o.By != "" {
		c.By = o.By
	}
	c.Cells += o.Cells
	c.There += o.There
	c.Without += o.Without
	c.Invalid += o.Invalid
	c.Outdated += o.Outdated
	c.Compared += o.Compared
	c.ThereOfThese += o.ThereOfThese
	c.Here += o.Here
	c.HereAll += o.HereAll
	c.Unjudged += o.Unjudged
	c.Other += o.Other
	c.Unreached += o.Unreached
}

// note is the comparison as lines below a table; "" if nothing was recorded.
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
		note += fmt.Sprintf("; %d of another version of the problem than the one here, so scores may differ", c.Outdated)
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
	return rounded(&m)
}
