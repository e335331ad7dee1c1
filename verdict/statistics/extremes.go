package statistics

import "math"

// Sums of a million numbers below large, and their third powers, are finite, and powers of numbers from small are not 0.
// Figures of other samples are computed from the sample divided by a power of two, which is exact.
const (
	large = 0x1p300
	small = 0x1p-300
)

// size returns the largest absolute value of a sample.
func size(sample []float64) float64 {
	most := 0.0
	for _, x := range sample {
		most = max(most, math.Abs(x))
	}
	return most
}

// normalized returns a sample divided by two to the power of exponent, so that its figures neither overflow nor vanish.
// It returns the sample itself, and 0, if it has no extreme numbers.
func normalized(sample []float64) (unit []float64, exponent int) {
	most := size(sample)
	if most == 0 || most >= small && most < large {
		return sample, 0
	}
	_, exponent = math.Frexp(most)
	return times(sample, -exponent), exponent
}

// times returns a sample multiplied by a power of two.
func times(sample []float64, exponent int) []float64 {
	out := make([]float64, len(sample))
	for i, x := range sample {
		out[i] = math.Ldexp(x, exponent)
	}
	return out
}

// Saturated returns x, or the largest finite number of its sign if x is infinite: the figure overflowed.
func Saturated(x float64) float64 { return min(max(x, -math.MaxFloat64), math.MaxFloat64) }

// between returns the number at a share of the way from a to b.
func between(a, b, share float64) float64 {
	if width := b - a; Finite(width) {
		return a + share*width
	}
	return (1-share)*a + share*b
}
