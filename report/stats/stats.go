// Package stats compares contenders on the same problems: how large the difference of their
// means is, how sure that is, and which order of them the numbers can carry. It knows numbers
// and nothing of what they measure.
//
// The problem is the unit of everything here. Attempts at one problem resemble each other, so
// that counting each of them as a sample of its own would promise more than was measured: what
// a contender got at a problem is the mean of its attempts, and the sample is the differences of
// these means. What is drawn at random is drawn from a fixed seed: equal numbers always give
// equal figures.
package stats

import (
	"math"

	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// Level is the rate of false alarms that a difference is called shown at.
const Level = 1 - statistics.Confidence

// MinProblems is the least number of problems that an interval is made of. Fewer cannot show
// anything at Level, either: the smallest p of five problems is 2/32.
const MinProblems = 5

// Attempts are what one contender got at one problem.
type Attempts struct {
	Values  []float64 // of attempts with a verdict
	Missing int       // attempts without one
}

// Problem is what two contenders got at the same problem.
type Problem struct{ A, B Attempts }

// Comparison is A beside B, over the problems at which both have a verdict. Differences are A's
// mean less B's, in the unit of the values.
type Comparison struct {
	Problems            int
	A, B                float64 // means over problems
	Difference          float64
	Interval            Interval
	P                   float64 // of a difference as large if A and B were alike; 1 without problems
	Exact               bool    // P counts all possible signs, and no sample of them
	Better, Equal, Less int     // problems at which A is better, as good, less good
	Detectable          float64 // the smallest difference that such problems show in 80 of 100 comparisons; NaN is unknown
	Single              bool    // each problem has one attempt of both, which is 0 or 1
	McNemar             float64 // McNemar's exact p of Better and Less, if Single
	// Missing are the attempts without a verdict. Wherever there is one at a problem of both,
	// Least and Most are what Difference could be if they had one.
	Missing     int
	Least, Most float64
}

// Compare compares A with B. Values are from worst to best, which only attempts without a verdict
// are bounded by.
func Compare(problems []Problem, worst, best float64) Comparison {
	c := Comparison{P: 1, Detectable: math.NaN(), McNemar: 1, Single: true}
	var differences []float64
	for i := range problems {
		a, b := &problems[i].A, &problems[i].B
		c.Missing += a.Missing + b.Missing
		if len(a.Values) == 0 || len(b.Values) == 0 {
			continue
		}
		c.Single = c.Single && a.binary() && b.binary()
		meanA, meanB := a.Mean(), b.Mean()
		c.A, c.B = c.A+meanA, c.B+meanB
		differences = append(differences, meanA-meanB)
		switch {
		case meanA > meanB:
			c.Better++
		case meanA < meanB:
			c.Less++
		default:
			c.Equal++
		}
	}
	c.Least, c.Most = bounds(problems, worst, best)
	c.Problems = len(differences)
	if c.Problems == 0 {
		c.Single = false
		return c
	}
	c.A, c.B, c.Difference = c.A/float64(c.Problems), c.B/float64(c.Problems), Mean(differences)
	c.Interval = MeanInterval(differences)
	c.P, c.Exact = SignFlip(differences)
	c.Detectable = Detectable(differences)
	if c.Single {
		c.McNemar = McNemar(c.Better, c.Less)
	}
	return c
}

// Mean is that of the attempts with a verdict.
func (a *Attempts) Mean() float64 { return Mean(a.Values) }

// binary reports whether there is one attempt, and it is 0 or 1.
func (a *Attempts) binary() bool {
	return a.Missing == 0 && len(a.Values) == 1 && (a.Values[0] == 0 || a.Values[0] == 1)
}

// bounds are the least and the most that the difference could be if each attempt without a
// verdict had one, over all problems that both attempted.
func bounds(problems []Problem, worst, best float64) (least, most float64) {
	n := 0
	for i := range problems {
		a, b := &problems[i].A, &problems[i].B
		if len(a.Values)+a.Missing == 0 || len(b.Values)+b.Missing == 0 {
			continue
		}
		n++
		least += a.filled(worst) - b.filled(best)
		most += a.filled(best) - b.filled(worst)
	}
	if n == 0 {
		return 0, 0
	}
	return least / float64(n), most / float64(n)
}

// filled is the mean if attempts without a verdict were worth so much.
func (a *Attempts) filled(worth float64) float64 {
	sum := worth * float64(a.Missing)
	for _, v := range a.Values {
		sum += v
	}
	return sum / float64(len(a.Values)+a.Missing)
}

// Mean is the mean of a sample; 0 of none.
func Mean(sample []float64) float64 {
	sum := 0.0
	for _, x := range sample {
		sum += x
	}
	return sum / float64(max(1, len(sample)))
}

// deviation is the sample's standard deviation, with n-1.
func deviation(sample []float64) float64 {
	m, sum := Mean(sample), 0.0
	for _, x := range sample {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(sample)-1))
}
