package statistics

import (
	"math"
)

// Level is the rate of false alarms among significant differences.
const Level = 1 - Confidence

// MinProblems is the minimum number of differences for an interval. Fewer also cannot be significant at
// Level: the smallest p of five problems is 2/32.
const MinProblems = 5

// Attempts are the results of one contender at one unit of a problem, such as on one backend.
type Attempts struct {
	Values  []float64 // of attempts with a verdict
	Missing int       // attempts without a verdict
}

// Unit contains the results of two contenders at the same unit.
type Unit struct{ A, B Attempts }

// Problem contains the units of a problem that two contenders attempted.
type Problem []Unit

// Comparison compares A with B. Their results are compared in units where both have a verdict, and
// averaged over the units of a problem, then over problems, so that missing verdicts or additional
// attempts are no advantage. Differences are A's mean less B's, in the unit of the values.
type Comparison struct {
	Problems            int
	Clusters            int     // of the problems, if these count instead; else 0
	A, B                float64 // means over problems
	Difference          float64
	Interval            Interval
	P                   float64 // probability of a difference of at least this size if A and B were equal; 1 without problems
	Exact               bool    // P counts all possible signs instead of a sample
	Better, Equal, Less int     // problems at which A is better, equal, worse
	Single              bool    // each problem has one attempt of both, which is 0 or 1
	McNemar             float64 // McNemar's exact p of Better and Less, if Single
	// Missing counts the attempts without a verdict. If a shared unit has any, Least and Most bound the
	// Difference for all possible verdicts; NaN if values have no bounds.
	Missing     int
	Least, Most float64
	// Differences are the differences at each problem, in the order of the problems; 0 if one has no
	// verdict. With clusters they are the sums of each. They are divided by a power of two if they could overflow.
	Differences []float64
	// Detectable is the smallest difference that would be significant in 80 of 100 comparisons on such
	// problems; NaN if unknown, or if none would be.
	Detectable float64
	Shows      bool // whether any difference could be significant

	met      []float64 // Differences of the problems with a verdict
	exponent int       // of the power of two that divides Differences and met
}

// Compare compares A with B. Their values must be on the scale.
func Compare(problems []Problem, scale Scale) Comparison {
	return CompareClusters(problems, nil, scale)
}

// CompareClusters compares A with B at problems that belong to clusters, whose indices are in clusters. Signs flip, and
// resamples are drawn, cluster by cluster. Without clusters each problem counts by itself.
func CompareClusters(problems []Problem, clusters []int, scale Scale) Comparison {
	largest := 0.0
	for _, problem := range problems {
		for i := range problem {
			largest = max(largest, size(problem[i].A.Values), size(problem[i].B.Values))
		}
	}
	if largest < large || scale.hasEnds() {
		return compareClusters(problems, clusters, scale)
	}
	smaller := make([]Problem, len(problems))
	_, exponent := math.Frexp(largest)
	for i, problem := range problems {
		for _, u := range problem {
			u.A.Values, u.B.Values = times(u.A.Values, -exponent), times(u.B.Values, -exponent)
			smaller[i] = append(smaller[i], u)
		}
	}
	c := compareClusters(smaller, clusters, scale)
	c.exponent = exponent
	for _, figure := range []*float64{&c.A, &c.B, &c.Difference, &c.Interval.Low, &c.Interval.High, &c.Detectable} {
		*figure = Saturated(math.Ldexp(*figure, exponent))
	}
	return c
}

// compareClusters compares numbers whose sums and powers are finite.
func compareClusters(problems []Problem, clusters []int, scale Scale) Comparison {
	var met []int
	c := Comparison{P: 1, Detectable: math.NaN(), McNemar: 1, Single: true, Differences: make([]float64, len(problems))}
	for i, problem := range problems {
		a, b, single, ok := problem.means()
		for _, unit := range problem {
			c.Missing += unit.A.Missing + unit.B.Missing
		}
		if !ok {
			continue
		}
		c.Single = c.Single && single
		c.A, c.B = c.A+a, c.B+b
		c.Differences[i] = a - b
		c.met = append(c.met, a-b)
		if clusters != nil {
			met = append(met, clusters[i])
		}
		switch {
		case a > b:
			c.Better++
		case a < b:
			c.Less++
		default:
			c.Equal++
		}
	}
	c.Least, c.Most = bounds(problems, scale)
	c.Problems = len(c.met)
	if c.Problems == 0 {
		c.Single = false
		return c
	}
	c.A, c.B, c.Difference = c.A/float64(c.Problems), c.B/float64(c.Problems), Mean(c.met)
	if clusters != nil {
		c.joinClusters(clusters, met)
	}
	c.Interval = MeanInterval(c.met, Scale{})
	c.P, c.Exact = SignFlip(c.Differences)
	if c.Shows = c.units() >= ProblemsNeeded(1); c.Shows {
		c.Detectable = Detectable(c.met, studentCritical(c.units()))
	}
	if c.Single {
		c.McNemar = McNemar(c.Better, c.Less)
	}
	return c
}

// Correct sets the results of c as a member of a family.
func (c *Comparison) Correct(f *Family) {
	critical, ok := f.Critical(c.units())
	c.Detectable, c.Shows = math.NaN(), ok
	if ok {
		c.Detectable = Saturated(math.Ldexp(Detectable(c.met, critical), c.exponent))
	}
}

// means returns the means of A and B at the units where both have a verdict, and whether each has a single
// attempt, with the value 0 or 1. It returns false without such units.
func (p Problem) means() (a, b float64, single, ok bool) {
	n := 0.0
	single = len(p) == 1
	for i := range p {
		unit := &p[i]
		if len(unit.A.Values) == 0 || len(unit.B.Values) == 0 {
			continue
		}
		n++
		a, b = a+unit.A.Mean(), b+unit.B.Mean()
		single = single && unit.A.binary() && unit.B.binary()
	}
	if n == 0 {
		return 0, 0, false, false
	}
	a, b = a/n, b/n
	if math.Abs(a-b) <= 1e-12*(math.Abs(a)+math.Abs(b)) {
		b = a // they differ only by the order of summation
	}
	return a, b, single, true
}

// Mean returns the mean of the attempts with a verdict.
func (a *Attempts) Mean() float64 { return Mean(a.Values) }

// binary reports whether the only attempt is 0 or 1.
func (a *Attempts) binary() bool {
	return a.Missing == 0 && len(a.Values) == 1 && (a.Values[0] == 0 || a.Values[0] == 1)
}

// bounds returns the minimum and the maximum of the difference if each attempt without a verdict had one,
// over all units that both attempted; NaN without a scale.
func bounds(problems []Problem, scale Scale) (least, most float64) {
	if !scale.hasEnds() {
		return math.NaN(), math.NaN()
	}
	var lows, highs []float64
	for _, problem := range problems {
		low, high, n := 0.0, 0.0, 0.0
		for i := range problem {
			a, b := &problem[i].A, &problem[i].B
			if len(a.Values)+a.Missing == 0 || len(b.Values)+b.Missing == 0 {
				continue
			}
			n++
			low += a.meanWith(scale.Worst) - b.meanWith(scale.Best)
			high += a.meanWith(scale.Best) - b.meanWith(scale.Worst)
		}
		if n > 0 {
			lows, highs = append(lows, low/n), append(highs, high/n)
		}
	}
	return Mean(lows), Mean(highs)
}

// meanWith returns the mean if attempts without a verdict had the given value.
func (a *Attempts) meanWith(worth float64) float64 {
	sum := worth * float64(a.Missing)
	for _, v := range a.Values {
		sum += v
	}
	return sum / float64(len(a.Values)+a.Missing)
}

// Mean returns the mean of a sample, and 0 for an empty one.
func Mean(sample []float64) float64 {
	sum := 0.0
	for _, x := range sample {
		sum += x
	}
	n := float64(max(1, len(sample)))
	if Finite(sum) {
		return sum / n
	}
	sum = 0
	for _, x := range sample {
		sum += x / n
	}
	return Saturated(sum)
}

// deviation returns the sample's standard deviation, with n-1.
func deviation(sample []float64) float64 {
	unit, exponent := normalized(sample)
	m, sum := Mean(unit), 0.0
	for _, x := range unit {
		sum += (x - m) * (x - m)
	}
	return Saturated(math.Ldexp(math.Sqrt(sum/float64(len(unit)-1)), exponent))
}
