package report

import "github.com/fevalgraph/fevalgraph/report/statistics"

// attempt is what a cell is worth as one of several at a problem.
type attempt int

const (
	noAttempt attempt = iota // nothing was judged, and the submission is not to blame
	lost                     // the submission kept itself from being judged
	judged
)

func (c *Cell) attempt() attempt {
	for i := range c.Checkpoints {
		if c.Checkpoints[i].Class == InputError {
			return noAttempt
		}
	}
	switch {
	case len(c.Checkpoints) == 0:
		return noAttempt
	case c.Status == Success:
		return judged
	case c.Status == Error || c.Status == TimedOut:
		return lost
	}
	return noAttempt
}

// Solved reports whether the cell was judged and all of its checkpoints passed.
func (c *Cell) Solved() bool {
	for i := range c.Checkpoints {
		if !c.Checkpoints[i].Passed {
			return false
		}
	}
	return c.attempt() == judged
}

// scored reports whether the cell's problem gives scores.
func (c *Cell) scored() bool { return len(c.Checkpoints) == 1 && c.Checkpoints[0].Name == "" }

// NotFinite reports whether the cell was given a score that is no number, or an
// infinite one. Such a score is in no aggregate.
func (c *Cell) NotFinite() bool {
	return c.scored() && c.Checkpoints[0].ScoreText+c.Checkpoints[0].ScoreUnboundedText != ""
}

// clamped is a bounded score as aggregates take it, from 0 to 100.
func clamped(score float64) float64 { return min(max(score, 0), 100) }

// ScoreSummary sums up the bounded scores of those cells that have one, each
// clamped to 0 to 100.
func ScoreSummary(cells []Cell) statistics.Summary {
	var scores []float64
	for i := range cells {
		if s := cells[i].Score; s != nil && statistics.Finite(*s) {
			scores = append(scores, clamped(*s))
		}
	}
	return statistics.Summarize(scores)
}

// UnboundedSummary sums up the unbounded scores as they are.
func UnboundedSummary(cells []Cell) statistics.Summary {
	var scores []float64
	for i := range cells {
		if s := cells[i].ScoreUnbounded; s != nil && statistics.Finite(*s) {
			scores = append(scores, *s)
		}
	}
	return statistics.Summarize(scores)
}

// unit is what attempts are attempts at.
type unit struct{ problem, backend string }

// samples are the values of the attempts at each problem on each backend, in
// the order of the first of each; value may leave cells out.
func samples(cells []Cell, value func(*Cell) (float64, bool)) (units []unit, all [][]float64) {
	at := map[unit]int{}
	for i := range cells {
		v, ok := value(&cells[i])
		if !ok {
			continue
		}
		u := unit{cells[i].Problem, cells[i].Backend}
		n, known := at[u]
		if !known {
			n = len(all)
			at[u] = n
			units, all = append(units, u), append(all, nil)
		}
		all[n] = append(all[n], v)
	}
	return units, all
}

// passValue is 1 for a cell that is solved and 0 for one that is not.
func passValue(c *Cell) (float64, bool) {
	if c.Solved() {
		return 1, true
	}
	return 0, c.attempt() != noAttempt
}

// scoreValue is the bounded score, and 0 where the submission is to blame that
// there is none.
func scoreValue(c *Cell) (float64, bool) {
	switch {
	case !c.scored():
		return 0, false
	case c.attempt() == lost:
		return 0, true
	case c.attempt() == judged && c.Score != nil && statistics.Finite(*c.Score):
		return clamped(*c.Score), true
	}
	return 0, false
}

// worth is what cells are compared by: the score where there are any, else
// whether they are solved.
func worth(c *Cell) (float64, bool) {
	if c.scored() {
		return scoreValue(c)
	}
	return passValue(c)
}

// PassAt estimates the share of problems that at least one of k attempts solves.
func PassAt(cells []Cell, k int) statistics.Estimate {
	_, s := samples(cells, passValue)
	return statistics.MeanBestOf(s, k)
}

// BestOf estimates the mean over problems of the best bounded score of k attempts.
func BestOf(cells []Cell, k int) statistics.Estimate {
	_, s := samples(cells, scoreValue)
	return statistics.MeanBestOf(s, k)
}

// Ratings rates groups of cells by what they came to on the problems that they
// have in common; see statistics.Ratings. NaN is none.
func Ratings(groups [][]Cell) []float64 {
	at := map[unit]int{}
	var matches [][]float64
	for g := range groups {
		units, all := samples(groups[g], worth)
		for i, u := range units {
			m, known := at[u]
			if !known {
				m = len(matches)
				at[u] = m
				matches = append(matches, statistics.Absent(len(groups)))
			}
			matches[m][g] = statistics.Summarize(all[i]).Mean
		}
	}
	return statistics.Ratings(len(groups), matches)
}
