package statistics

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Up to exactUpTo nonzero differences, all signs are tried, which are 2^19 sums. Above that, signs are
// drawn: at least the minimum, and then up to the maximum until enough sums were as far from 0, so that a
// small p is not limited by the number of draws. For very many differences, the sum is normally
// distributed.
const (
	exactUpTo  = 20
	drawnUpTo  = 1000
	leastDraws = 10_000
	mostDraws  = 100_000
	enoughFar  = 10
)

// SignFlip returns the two-sided p of differences of pairs: how often their sum is as far from 0 if the
// members of each pair were exchanged at random. It is exact for up to 20 nonzero differences.
func SignFlip(differences []float64) (p float64, exact bool) {
	differences, _ = normalized(differences)
	var sizes []float64
	sum, squares := 0.0, 0.0
	for _, d := range differences {
		sum, squares = sum+d, squares+d*d
		if d != 0 {
			sizes = append(sizes, math.Abs(d))
		}
	}
	far := math.Abs(sum) - slack(sizes)
	switch {
	case len(sizes) == 0:
		return 1, true
	case len(sizes) <= exactUpTo:
		// A sum and its negative have the same absolute value, so the first sign is fixed.
		n := countFar(sizes[1:], sizes[0], far)
		return float64(n) / float64(int(1)<<(len(sizes)-1)), true
	case len(sizes) > drawnUpTo:
		return 2 * normal(-math.Abs(sum)/math.Sqrt(squares)), false
	}
	random := rand.New(rand.NewPCG(seed, seed))
	n, drawn := 0, 0
	for drawn < leastDraws || n < enoughFar && drawn < mostDraws {
		drawn++
		if math.Abs(drawnSum(random, sizes)) >= far {
			n++
		}
	}
	return float64(n+1) / float64(drawn+1), false // the actual signs are one of the draws
}

// drawnSum returns the sum of numbers of at least 0 with random signs.
func drawnSum(random *rand.Rand, sizes []float64) (sum float64) {
	for i := 0; i < len(sizes); i += 64 {
		signs := random.Uint64()
		for _, size := range sizes[i:min(i+64, len(sizes))] {
			// The lowest bit becomes the sign bit.
			sum += math.Float64frombits(math.Float64bits(size) | signs<<63)
			signs >>= 1
		}
	}
	return sum
}

// countFar returns how many choices of signs give a sum with at least this absolute value.
func countFar(sizes []float64, sum, far float64) int {
	if len(sizes) == 0 {
		if math.Abs(sum) >= far {
			return 1
		}
		return 0
	}
	return countFar(sizes[1:], sum+sizes[0], far) + countFar(sizes[1:], sum-sizes[0], far)
}

// McNemar returns the exact two-sided p of McNemar's test: the arguments count the pairs whose first, or
// second, member alone succeeded.
func McNemar(first, second int) float64 {
	if first == second {
		return 1
	}
	less, more := float64(min(first, second)), float64(max(first, second))
	return min(1, 2*mathext.RegIncBeta(more, less+1, 0.5))
}

// power is the rate at which a difference of size Detectable is significant.
const power = 0.8

// Detectable returns the smallest mean that would be significant in 80 of 100 comparisons with as many
// differences of the same variance, if comparisons with t of at least critical are significant. It returns
// NaN if there are fewer than MinProblems differences, or all are equal.
func Detectable(differences []float64, critical float64) float64 {
	n := float64(len(differences))
	if len(differences) < MinProblems || slices.Min(differences) == slices.Max(differences) {
		return math.NaN()
	}
	return Saturated((critical + studentQuantile(power, n-1)) * (deviation(differences) / math.Sqrt(n)))
}

// studentCritical returns the smallest t of a single comparison of n differences that is significant at
// Level.
func studentCritical(n int) float64 { return studentQuantile(1-Level/2, float64(n-1)) }
