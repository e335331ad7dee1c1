package verdict

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// Sample is what figures over many cells take from one of them. Cells of the same
// problem and backend are attempts at the same unit.
type Sample struct {
	Problem, Backend string
	Status           Status
	Score            Score
	Checkpoints      []CheckpointSummary // those that were asked for; none when the cell ended before its first
}

// attempt is what a cell is worth as one of several at a problem.
type attempt int

const (
	noAttempt attempt = iota // nothing was judged, and the submission is not to blame
	lost                     // the submission kept itself from being judged
	judged
)

func (s *Sample) attempt() attempt {
	switch {
	case len(s.Checkpoints) == 0, slices.ContainsFunc(s.Checkpoints, func(c CheckpointSummary) bool { return c.Class == InputError }):
		return noAttempt
	case s.Status == Success:
		return judged
	case s.Status == Error || s.Status == TimedOut:
		return lost
	}
	return noAttempt
}

// Solved reports whether the cell was judged and all of its checkpoints passed.
func (s *Sample) Solved() bool {
	return s.attempt() == judged && !slices.ContainsFunc(s.Checkpoints, func(c CheckpointSummary) bool { return !c.Passed })
}

// scored reports whether the cell's problem gives scores.
func (s *Sample) scored() bool { return len(s.Checkpoints) == 1 && s.Checkpoints[0].Name == "" }

// NotFinite reports whether the cell was given a score that is no number, or an
// infinite one. Such a score is in no figure.
func (s *Sample) NotFinite() bool { return s.scored() && s.Score.NotFinite() }

// ScoreSummary sums up the bounded scores of those samples that have one, each
// clamped to 0 to 100.
func ScoreSummary(samples []Sample) statistics.Summary {
	var scores []float64
	for i := range samples {
		if score, ok := samples[i].Score.clamped(); ok {
			scores = append(scores, score)
		}
	}
	return statistics.Summarize(scores)
}

// UnboundedSummary sums up the unbounded scores as they are.
func UnboundedSummary(samples []Sample) statistics.Summary {
	var scores []float64
	for i := range samples {
		if score := samples[i].Score.Unbounded; score != nil && statistics.Finite(*score) {
			scores = append(scores, *score)
		}
	}
	return statistics.Summarize(scores)
}

// unit is what attempts are attempts at.
type unit struct{ problem, backend string }

// attempts are the values of the attempts at each unit, in the order of the first
// of each; value may leave samples out.
func attempts(samples []Sample, value func(*Sample) (float64, bool)) (units []unit, all [][]float64) {
	at := map[unit]int{}
	for i := range samples {
		v, ok := value(&samples[i])
		if !ok {
			continue
		}
		u := unit{samples[i].Problem, samples[i].Backend}
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
func passValue(s *Sample) (float64, bool) {
	if s.Solved() {
		return 1, true
	}
	return 0, s.attempt() != noAttempt
}

// scoreValue is the bounded score, and 0 where the submission is to blame that
// there is none.
func scoreValue(s *Sample) (float64, bool) {
	switch {
	case !s.scored():
		return 0, false
	case s.attempt() == lost:
		return 0, true
	case s.attempt() == judged:
		return s.Score.clamped()
	}
	return 0, false
}

// worth is what cells are compared by: the score where there are any, else
// whether they are solved.
func worth(s *Sample) (float64, bool) {
	if s.scored() {
		return scoreValue(s)
	}
	return passValue(s)
}

// PassAt estimates the share of units that at least one of k attempts solves.
func PassAt(samples []Sample, k int) statistics.Estimate {
	_, values := attempts(samples, passValue)
	return statistics.MeanBestOf(values, k)
}

// BestOf estimates the mean over units of the best bounded score of k attempts.
func BestOf(samples []Sample, k int) statistics.Estimate {
	_, values := attempts(samples, scoreValue)
	return statistics.MeanBestOf(values, k)
}

// Ratings rates groups of samples by their results on the units that they have in
// common; see statistics.Ratings. NaN is none.
func Ratings(groups [][]Sample) []float64 {
	at := map[unit]int{}
	var matches [][]float64
	for g := range groups {
		units, all := attempts(groups[g], worth)
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
