package statistics

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Confidence is the share of intervals that contain the estimated value.
const Confidence = 0.95

// Interval contains a mean with Confidence.
type Interval struct {
	Low, High float64
	Known     bool   // false if the sample is insufficient
	Method    string // "wilson" or "bca"; "" if the interval is unknown
}

// Scale contains the minimum and maximum of a sample's values, such as 0 and 1 for passes. The zero Scale
// means no bounds.
type Scale struct{ Worst, Best float64 }

func (s Scale) hasEnds() bool { return s.Worst < s.Best }

// atEnds reports whether each of a sample is the worst or the best value of the scale.
func (s Scale) atEnds(sample []float64) bool {
	return s.hasEnds() && !slices.ContainsFunc(sample, func(x float64) bool { return x != s.Worst && x != s.Best })
}

// fewest is the minimum size of a sample whose bootstrap interval has the coverage Confidence, according
// to simulations.
const fewest = 8

// resamples is the number of resamples of a bootstrap. For large samples there are fewer, down to a
// thousand, to limit the drawn numbers. seed is the seed of all random numbers.
const (
	resamples      = 4000
	leastResamples = 1000
	mostDrawn      = 4_000_000
	seed           = 1
)

// MeanInterval returns the interval of the mean of a sample from a scale. If all values are at its ends,
// such as passes and failures, it is Wilson's score interval (Wilson 1927), which is also meaningful for 0
// of 6. Otherwise it is a bootstrap interval, corrected for bias and skewness (BCa, Efron 1987). The plain
// bootstrap is too narrow for small samples, since resamples vary by n-1 instead of n, and since it uses
// the normal instead of Student's distribution; its quantiles are moved outwards accordingly (Hesterberg
// 2015). For samples that are too small it is Wilson's, which is wider, since values at the ends have the
// largest variance for a given mean. The interval is unknown if the scale has no ends and the sample is
// small, or all values are equal.
func MeanInterval(sample []float64, scale Scale) Interval {
	n := len(sample)
	switch {
	case n == 0:
		return Interval{}
	case scale.atEnds(sample), scale.hasEnds() && n < fewest:
		return wilson(Mean(sample), n, scale)
	case n < MinProblems || slices.Min(sample) == slices.Max(sample):
		return Interval{}
	}
	sample, exponent := normalized(sample)
	random := rand.New(rand.NewPCG(seed, seed))
	means := make([]float64, max(leastResamples, min(resamples, mostDrawn/n)))
	for i := range means {
		means[i] = drawnTotal(random, sample) / float64(n)
	}
	slices.Sort(means)
	low, high := correct(sample, means, expandedQuantile(n))
	return Interval{Low: math.Ldexp(low, exponent), High: math.Ldexp(high, exponent), Known: true, Method: "bca"}
}

// wilson returns the score interval of a mean of n values of a scale, as if each was at an end.
func wilson(mean float64, n int, s Scale) Interval {
	const z = 1.959963984540054 // of the normal distribution at (1+Confidence)/2
	m, width := float64(n), s.Best-s.Worst
	p := (mean - s.Worst) / width
	center := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Interval{Low: s.Worst + width*max(0, center-half), High: s.Worst + width*min(1, center+half), Known: true, Method: "wilson"}
}

// drawnTotal returns the sum of a resample of the same size, drawn with replacement. One random number draws
// two: its halves favour some elements by one in 2^32/n, which is less than the precision of the figures.
func drawnTotal(random *rand.Rand, sample []float64) (sum float64) {
	n := uint64(len(sample))
	for left := len(sample); left > 0; left -= 2 {
		r := random.Uint64()
		sum += sample[r>>32*n>>32]
		if left > 1 {
			sum += sample[uint64(uint32(r))*n>>32]
		}
	}
	return sum
}

// expandedQuantile returns the quantile of the normal distribution, below 0, for the lower end of an interval of a
// sample of n.
func expandedQuantile(n int) float64 {
	m := float64(n)
	return -math.Sqrt(m/(m-1)) * studentQuantile((1+Confidence)/2, m-1)
}

// correct returns the ends of the interval of a sample's mean from the sorted means of its resamples. z is
// the normal quantile of the lower end of an uncorrected interval.
func correct(sample, means []float64, z float64) (low, high float64) {
	estimate := Mean(sample)
	// Half of the means that equal the estimate count as below it, since means of counts are often equal.
	below, _ := slices.BinarySearch(means, estimate-slack(sample))
	upTo, _ := slices.BinarySearch(means, estimate+slack(sample))
	share := float64(below+upTo) / 2 / float64(len(means))
	bias := mathext.NormalQuantile(min(max(share, 0.5/float64(len(means))), 1-0.5/float64(len(means))))
	a := acceleration(sample)
	at := func(z float64) float64 {
		return quantile(means, normal(bias+(bias+z)/(1-a*(bias+z))))
	}
	return at(z), at(-z)
}

// acceleration returns how fast the mean's deviation grows with it: from the jackknife, which for a mean is
// a sixth of the skewness over the root of n.
func acceleration(sample []float64) float64 {
	m, squares, cubes := Mean(sample), 0.0, 0.0
	for _, x := range sample {
		squares += (x - m) * (x - m)
		cubes += (x - m) * (x - m) * (x - m)
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

// quantile returns a quantile of sorted numbers, interpolated linearly.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return between(sorted[i], sorted[i+1], at-float64(i))
}

// slack returns the maximum rounding difference between sums of a sample in different orders.
func slack(sample []float64) float64 {
	sum := 0.0
	for _, x := range sample {
		sum += math.Abs(x)
	}
	return 1e-12 * sum
}

// normal returns the distribution function of the standard normal distribution.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// studentQuantile returns the quantile of Student's distribution with the given degrees of freedom, for p
// of at least one half.
func studentQuantile(p, degrees float64) float64 {
	x := mathext.InvRegIncBeta(degrees/2, 0.5, 2*(1-p))
	return math.Sqrt(degrees * (1 - x) / x)
}
