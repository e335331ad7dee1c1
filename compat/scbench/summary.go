package scbench

import (
	"math/big"
	"slices"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// summary has the correctness keys of result.json, in their order.
type summary struct {
	NumProblems             int       `json:"num_problems"`
	NumCheckpoints          int       `json:"num_checkpoints"`
	CheckpointsSolved       int       `json:"checkpoints_solved"`
	CheckpointsIsoSolved    int       `json:"checkpoints_iso_solved"`
	CheckpointsCoreSolved   int       `json:"checkpoints_core_solved"`
	ProblemSolved           float     `json:"problem_solved"` // a number of problems; Python writes it as a float
	ProblemPartial          float     `json:"problem_partial"`
	PctCheckpointsSolved    float     `json:"pct_checkpoints_solved"`
	PctCheckpointsIsoSolved float     `json:"pct_checkpoints_iso_solved"`
	PctProblemsSolved       float     `json:"pct_problems_solved"`
	PctProblemsPartial      float     `json:"pct_problems_partial"`
	PctCheckpointsCore      float     `json:"pct_checkpoints_core_solved"`
	PassRates               passRates `json:"pass_rates"`
}

// passRates are means by kind of test: over checkpoints that have such tests,
// and over problems, where one without such tests counts as 0.
type passRates struct {
	Problem    ratesByKind `json:"problem"`
	Checkpoint ratesByKind `json:"checkpoint"`
}

type ratesByKind struct {
	Core          float `json:"core"`
	Total         float `json:"total"`
	Error         float `json:"error"`
	Functionality float `json:"functionality"`
	Regression    float `json:"regression"`
}

// Summary returns the text of result.json for problems. A problem is solved if every checkpoint is, and
// partly solved if any is, so that solved problems count as both. An unjudged checkpoint counts as unsolved,
// and so does an invalid problem.
func Summary(problems []Problem) ([]byte, error) {
	problems = slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return len(p.Checkpoints) == 0 && !p.Invalid })
	s := summary{NumProblems: len(problems)}
	solvedProblems, partialProblems := 0, 0
	for _, p := range problems {
		solved, partial := !p.Invalid, false
		for _, c := range p.Checkpoints {
			s.NumCheckpoints++
			if !c.judged() {
				solved = false
				continue
			}
			r := ratesOf(c)
			s.CheckpointsSolved += countOf(isOne(r.PassRate))
			s.CheckpointsIsoSolved += countOf(isOne(r.CheckpointPassRate))
			s.CheckpointsCoreSolved += countOf(isOne(r.CorePassRate))
			solved = solved && isOne(r.PassRate)
			partial = partial || isOne(r.PassRate)
		}
		solvedProblems += countOf(solved)
		partialProblems += countOf(partial)
	}
	s.ProblemSolved, s.ProblemPartial = float(solvedProblems), float(partialProblems)
	s.PctCheckpointsSolved = percent(s.CheckpointsSolved, s.NumCheckpoints)
	s.PctCheckpointsIsoSolved = percent(s.CheckpointsIsoSolved, s.NumCheckpoints)
	s.PctCheckpointsCore = percent(s.CheckpointsCoreSolved, s.NumCheckpoints)
	s.PctProblemsSolved = percent(solvedProblems, s.NumProblems)
	s.PctProblemsPartial = percent(partialProblems, s.NumProblems)
	s.PassRates = passRates{
		Checkpoint: byKind(func(kind countFunc) float { return checkpointMean(problems, kind) }),
		Problem:    byKind(func(kind countFunc) float { return problemMean(problems, kind) }),
	}
	return encode(s, "  ")
}

// countFunc picks the tests of one kind from a checkpoint's counts.
type countFunc func(verdict.GroupCounts) verdict.Count

func byKind(mean func(countFunc) float) ratesByKind {
	of := func(g verdict.Group) float {
		return mean(func(counts verdict.GroupCounts) verdict.Count { return counts[g] })
	}
	return ratesByKind{
		Core: of(verdict.Core), Error: of(verdict.ErrorGroup),
		Functionality: of(verdict.Functionality), Regression: of(verdict.Regression),
		Total: mean(func(counts verdict.GroupCounts) verdict.Count {
			var all verdict.Count
			for _, g := range verdict.Groups {
				all.Passed += counts[g].Passed
				all.Total += counts[g].Total
			}
			return all
		}),
	}
}

func checkpointMean(problems []Problem, kind countFunc) float {
	var rates []float
	for _, p := range problems {
		rates = append(rates, ratesBy(p, kind)...)
	}
	return mean(rates)
}

func problemMean(problems []Problem, kind countFunc) float {
	var means []float
	for _, p := range problems {
		means = append(means, mean(ratesBy(p, kind)))
	}
	return mean(means)
}

func ratesBy(p Problem, kind countFunc) []float {
	var rates []float
	for _, c := range p.Checkpoints {
		if r := rate(kind(c.Result.Groups)); r != nil {
			rates = append(rates, *r)
		}
	}
	return rates
}

// mean is exact and rounded once, like Python's statistics.mean. The mean of no values is 0.
func mean(values []float) float {
	if len(values) == 0 {
		return 0
	}
	sum := new(big.Rat)
	for _, v := range values {
		sum.Add(sum, new(big.Rat).SetFloat64(float64(v)))
	}
	m, _ := sum.Quo(sum, big.NewRat(int64(len(values)), 1)).Float64()
	return float(m)
}

func isOne(rate *float) bool { return rate != nil && *rate == 1 }

func countOf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func percent(n, of int) float {
	if of == 0 {
		return 0
	}
	return float(float64(n) / float64(of) * 100)
}
