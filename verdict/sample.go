package verdict

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// CheckpointSummary describes a checkpoint without its tests. Groups is nil without a verdict.
type CheckpointSummary struct {
	Name    string
	Class   Class
	Passed  bool
	Groups  map[Group]Count
	Unruled bool // it has no rule to pass by
}

// Sample contains the data of a cell for figures over many cells. Cells of the same problem and backend
// are attempts at the same unit.
type Sample struct {
	Problem, Backend string
	Status           Status
	Score            Score
	Checkpoints      []CheckpointSummary // selected checkpoints; empty if the cell ended before the first
	// NoBounded and NoUnbounded mean that scores of the cell's problem have no such part: it is in no figure, not even
	// as the worst score of a lost attempt.
	NoBounded, NoUnbounded bool
	Lower                  bool // lower scores are better
}

// worst returns the score of an attempt without one: the worst value of the scale, or of the given scores if that is
// worse. Without a scale it is 0 or the worst given score.
func (s *Sample) worst(scale statistics.Scale, least, greatest float64) float64 {
	if s.Lower {
		return max(scale.Best, greatest)
	}
	return min(scale.Worst, least)
}

// attempt classifies a cell as an attempt at its problem.
type attempt int

const (
	noAttempt attempt = iota // nothing was judged, without the submission's fault
	lost                     // the submission prevented its own judging
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

// Judged reports whether the cell is an attempt at its problem: it was judged, or the submission prevented
// that.
func (s *Sample) Judged() bool { return s.attempt() != noAttempt }

// Solved reports whether the cell was judged and all of its checkpoints passed.
func (s *Sample) Solved() bool {
	return s.attempt() == judged && !slices.ContainsFunc(s.Checkpoints, func(c CheckpointSummary) bool { return !c.Passed })
}

// Scored reports whether the cell's problem gives scores.
func (s *Sample) Scored() bool { return len(s.Checkpoints) == 1 && s.Checkpoints[0].Name == "" }

// NotFinite reports whether the cell's score is infinite or not a number. Such a score counts as the
// lowest in every figure: otherwise, a program that can make its grader compute one could choose the
// problems on which it is compared.
func (s *Sample) NotFinite() bool { return s.Scored() && s.Score.NotFinite() }

// ScoreSummaries summarizes the scores of a group of cells. All includes every attempt at a problem that
// gives scores: a submission that prevented its own grading counts with the lowest score, 0 or the least
// given one. Scored includes only actual scores. Cells that were not judged because of the machine are in
// neither, and counted by Missing: a machine failure must not count as 0.
type ScoreSummaries struct {
	All, Scored statistics.Summary
	Missing     int
}

// Bounds returns the minimum and the maximum of the mean if the missing cells had scores from a scale.
func (s *ScoreSummaries) Bounds(scale statistics.Scale) (least, most float64) {
	n, missing := float64(s.All.N), float64(s.Missing)
	sum := s.All.Mean * n
	return (sum + missing*scale.Worst) / (n + missing), (sum + missing*scale.Best) / (n + missing)
}

// ScoreSummary sums up the bounded scores, each clamped to 0 to 100.
func ScoreSummary(samples []Sample) ScoreSummaries {
	return summarize(samples, Points, func(s *Sample) bool { return s.NoBounded }, func(s *Score) (float64, bool) { return s.clampedScore() })
}

// UnboundedSummary summarizes the unbounded scores, without clamping.
func UnboundedSummary(samples []Sample) ScoreSummaries {
	return summarize(samples, statistics.Scale{}, func(s *Sample) bool { return s.NoUnbounded }, func(s *Score) (float64, bool) {
		if s.Unbounded == nil || !statistics.Finite(*s.Unbounded) {
			return 0, false
		}
		return *s.Unbounded, true
	})
}

// SummarizeScores summarizes the values of the scores; value returns false to omit a score.
func SummarizeScores(samples []Sample, value func(*Score) (float64, bool)) ScoreSummaries {
	return summarize(samples, statistics.Scale{}, func(*Sample) bool { return false }, value)
}

// summarize is SummarizeScores without the samples that omit returns true for.
func summarize(samples []Sample, scale statistics.Scale, omit func(*Sample) bool, value func(*Score) (float64, bool)) ScoreSummaries {
	var scores []float64
	var out ScoreSummaries
	var lost []*Sample
	for i := range samples {
		s := &samples[i]
		if omit(s) {
			continue
		}
		if !s.Judged() {
			if s.Scored() {
				out.Missing++
			}
		} else if score, ok := value(&s.Score); ok {
			scores = append(scores, score)
		} else if s.Scored() {
			lost = append(lost, s)
		}
	}
	out.Scored = statistics.Summarize(scores)
	for _, s := range lost {
		scores = append(scores, s.worst(scale, out.Scored.Min, out.Scored.Max))
	}
	out.All = statistics.Summarize(scores)
	return out
}

// unit identifies cells that are attempts at the same task.
type unit struct{ problem, backend string }

// attempts returns the values of the attempts at each unit, in order of first occurrence; value can omit
// samples.
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

// attemptsByProblem returns, for each problem, the values of attempts by unit.
func attemptsByProblem(samples []Sample, value func(*Sample) (float64, bool)) [][][]float64 {
	at := map[string]int{}
	var problems [][][]float64
	units, all := attempts(samples, value)
	for i, u := range units {
		n, known := at[u.problem]
		if !known {
			n = len(problems)
			at[u.problem] = n
			problems = append(problems, nil)
		}
		problems[n] = append(problems[n], all[i])
	}
	return problems
}

// Ruled reports whether the cell's checkpoints have a pass rule.
func (s *Sample) Ruled() bool {
	return !slices.ContainsFunc(s.Checkpoints, func(c CheckpointSummary) bool { return c.Unruled })
}

// PassValue returns 1 for a solved cell and 0 for an unsolved one, or false for a cell without a rule.
func PassValue(s *Sample) (float64, bool) {
	if s.Solved() {
		return 1, true
	}
	return 0, s.Ruled() && s.attempt() != noAttempt
}

// ScoreValue returns the bounded score, or the worst, such as 0, for an attempt without a finite one.
func ScoreValue(s *Sample) (float64, bool) {
	if !s.Scored() || s.NoBounded || s.attempt() == noAttempt {
		return 0, false
	}
	if score, ok := s.Score.clampedScore(); ok {
		return score, true
	}
	return s.worst(Points, Points.Worst, Points.Worst), true
}

// ShareValue returns the share of a cell's checkpoints that passed; unreached ones count as not passed. It
// returns false for a cell without a rule.
func ShareValue(s *Sample) (float64, bool) {
	if !s.Ruled() || s.attempt() == noAttempt {
		return 0, false
	}
	passed := 0
	for _, c := range s.Checkpoints {
		if c.Passed {
			passed++
		}
	}
	return float64(passed) / float64(len(s.Checkpoints)), true
}

// worth returns the function for the values by which cells are compared: the score if cells have any,
// otherwise whether they are solved.
func worth(s *Sample) (float64, bool) {
	if s.Scored() {
		return ScoreValue(s)
	}
	return PassValue(s)
}

// Passes and Points are the scales of PassValue and ScoreValue.
var (
	Passes = statistics.Scale{Best: 1}
	Points = statistics.Scale{Best: 100}
)

// PassAt estimates the share of problems that at least one of k attempts solves.
func PassAt(samples []Sample, k int) statistics.Estimate {
	return statistics.MeanBestOf(attemptsByProblem(samples, PassValue), k, Passes)
}

// BestOf estimates the mean over problems of the best bounded score of k attempts.
func BestOf(samples []Sample, k int) statistics.Estimate {
	if !slices.ContainsFunc(samples, func(s Sample) bool { return s.Lower }) {
		return statistics.MeanBestOf(attemptsByProblem(samples, ScoreValue), k, Points)
	}
	e := statistics.MeanBestOf(attemptsByProblem(samples, func(s *Sample) (float64, bool) {
		v, ok := ScoreValue(s)
		return Points.Best - v, ok
	}), k, Points)
	e.Value, e.Low, e.High = Points.Best-e.Value, Points.Best-e.High, Points.Best-e.Low
	return e
}

// Ratings rates groups of samples by their results on the units that they have in common; see
// statistics.Ratings. A rating without data is NaN.
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
