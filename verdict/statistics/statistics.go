// Package statistics has the figures of samples: summaries, what the best of a
// few attempts is expected to be, intervals of confidence, and ratings. It knows
// numbers and nothing of what they measure. The same samples always give the
// same figures: what is drawn at random is drawn from a fixed seed.
package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Summary of a sample. Mean, Min and Max are 0 when N is.
type Summary struct {
	N              int
	Mean, Min, Max float64
}

// Summarize sums up numbers, which must be finite.
func Summarize(sample []float64) Summary {
	if len(sample) == 0 {
		return Summary{}
	}
	return Summary{N: len(sample), Mean: mean(sample), Min: slices.Min(sample), Max: slices.Max(sample)}
}

// Finite reports whether a number can be a part of a sample.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func mean(sample []float64) float64 {
	sum := 0.0
	for _, x := range sample {
		sum += x
	}
	return sum / float64(len(sample))
}

// BestOf is the expected maximum of k different elements of a sample drawn at
// random: the unbiased estimate, from all of its attempts, of what the best of k
// is. For elements that are 0 or 1 it is the unbiased pass@k,
// 1 - C(n-c, k)/C(n, k). It is false unless 1 <= k <= len(sample).
func BestOf(sample []float64, k int) (float64, bool) {
	if k < 1 || k > len(sample) {
		return 0, false
	}
	return bestOf(slices.Clone(sample), k), true
}

// bestOf is BestOf of a sample that it may reorder.
func bestOf(sample []float64, k int) float64 {
	if k == 1 {
		return mean(sample)
	}
	slices.Sort(sample)
	n := len(sample)
	// The i-th smallest, from 1, is the maximum of C(i-1, k-1) of the C(n, k)
	// choices. From the largest down, the shares are k/n, and each next one is
	// (i-k)/(i-1) of the one before.
	share, sum := float64(k)/float64(n), 0.0
	for i := n; i >= k; i-- {
		sum += share * sample[i-1]
		if i > 1 {
			share *= float64(i-k) / float64(i-1)
		}
	}
	return sum
}

// Estimate is a figure and the interval that it is in with some confidence.
type Estimate struct {
	Value     float64
	Low, High float64
	Known     bool   // whether Value is
	Bounded   bool   // whether Low and High are
	Units     int    // samples that were large enough
	Short     int    // samples that were not
	Method    string // how the interval was made: "wilson", "bootstrap"
}

// Confidence is how sure intervals are.
const Confidence = 0.95

// rounds of a bootstrap, and what its random numbers begin with.
const (
	rounds = 1000
	seed   = 1
)

// MeanBestOf is the mean of BestOf over samples, such as the attempts at each
// problem. Samples of less than k elements are left out and counted. The interval is the
// percentile interval of a bootstrap, which draws samples with replacement, or the
// elements of the only one.
func MeanBestOf(samples [][]float64, k int) Estimate { return meanBestOf(samples, k, false) }

// PassAt is MeanBestOf of elements that are 1 for a pass and 0 otherwise. Where each
// sample is a single one the interval is Wilson's score interval.
func PassAt(samples [][]float64, k int) Estimate { return meanBestOf(samples, k, true) }

func meanBestOf(samples [][]float64, k int, passes bool) Estimate {
	var e Estimate
	var large [][]float64
	values, single, elements := []float64{}, passes, 0
	for _, s := range samples {
		v, ok := BestOf(s, k)
		if !ok {
			e.Short++
			continue
		}
		large, values = append(large, s), append(values, v)
		single = single && len(s) == 1
		elements += len(s)
	}
	e.Units = len(values)
	if e.Units == 0 {
		return e
	}
	e.Value, e.Known = mean(values), true
	switch {
	case single:
		e.Low, e.High = wilson(e.Value, e.Units)
		e.Bounded, e.Method = true, "wilson"
	case elements > 1:
		e.Low, e.High = bootstrap(large, values, k)
		e.Bounded, e.Method = true, "bootstrap"
	}
	return e
}

// wilson is the score interval of a proportion of n at Confidence.
func wilson(p float64, n int) (low, high float64) {
	const z = 1.959963984540054 // of the normal distribution at (1+Confidence)/2
	m := float64(n)
	center := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, center-half), min(1, center+half)
}

// bootstrap draws samples with replacement, whose BestOf are values. A single
// sample has its elements drawn instead, which makes the best of nearly all of
// them smaller: the interval has the value in any case.
func bootstrap(samples [][]float64, values []float64, k int) (low, high float64) {
	random := rand.New(rand.NewPCG(seed, seed))
	means := make([]float64, rounds)
	draw := func(from, into []float64) []float64 {
		for i := range into {
			into[i] = from[random.IntN(len(from))]
		}
		return into
	}
	if len(samples) == 1 {
		drawn := make([]float64, len(samples[0]))
		for r := range means {
			means[r] = bestOf(draw(samples[0], drawn), k)
		}
	} else {
		drawn := make([]float64, len(values))
		for r := range means {
			means[r] = mean(draw(values, drawn))
		}
	}
	slices.Sort(means)
	low, high = quantile(means, (1-Confidence)/2), quantile(means, (1+Confidence)/2)
	value := mean(values)
	return min(low, value), max(high, value)
}

// quantile of sorted numbers, between neighbours in proportion.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
