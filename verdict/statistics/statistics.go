// Package statistics computes figures of samples: summaries, the expected best of a few attempts, confidence
// intervals, ratings, and comparisons of contenders on the same problems. It knows only numbers, not what
// they measure. Equal samples always give equal figures: random numbers come from a fixed seed.
//
// The problem is the unit of all uncertainty. Attempts at one problem resemble each other, so counting each
// as a separate sample would claim more than was measured.
package statistics

import (
	"math"
	"slices"
)

// Summary summarizes a sample. Mean, Min and Max are 0 if N is 0.
type Summary struct {
	N              int
	Mean, Min, Max float64
}

// Summarize sums up numbers, which must be finite.
func Summarize(sample []float64) Summary {
	if len(sample) == 0 {
		return Summary{}
	}
	return Summary{N: len(sample), Mean: Mean(sample), Min: slices.Min(sample), Max: slices.Max(sample)}
}

// Spread is the five-number summary of a sample.
type Spread struct{ Min, Low, Median, High, Max float64 }

// SpreadOf returns the minimum, maximum and quartiles of a sample, interpolated linearly (Hyndman and
// Fan's definition 7). It is zero for an empty sample.
func SpreadOf(sample []float64) Spread {
	switch len(sample) {
	case 0:
		return Spread{}
	case 1:
		return Spread{sample[0], sample[0], sample[0], sample[0], sample[0]}
	}
	sorted := slices.Sorted(slices.Values(sample))
	return Spread{sorted[0], quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75), sorted[len(sorted)-1]}
}

// Finite reports whether a number is finite, so that samples can contain it.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// BestOf returns the expected maximum of k different elements of a sample drawn at random: the unbiased
// estimate, from all of its attempts, of the best of k. For elements that are 0 or 1 it is the unbiased
// pass@k, 1 - C(n-c, k)/C(n, k). It returns false unless 1 <= k <= len(sample).
func BestOf(sample []float64, k int) (float64, bool) {
	if k < 1 || k > len(sample) {
		return 0, false
	}
	return bestOf(slices.Clone(sample), k), true
}

// bestOf is like BestOf, and can reorder the sample.
func bestOf(sample []float64, k int) float64 {
	if k == 1 {
		return Mean(sample)
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
	return Saturated(sum)
}

// Estimate is a figure with its confidence interval.
type Estimate struct {
	Value float64
	Known bool // whether Value is known
	Interval
	Units int // problems with enough attempts
	Short int // problems without enough attempts
}

// MeanBestOf returns the mean over problems of BestOf, where a problem has the attempts at each of its
// units, such as a backend. Units with fewer than k attempts are omitted, and problems without other units
// are counted. The interval is over problems or, for a single unit and k = 1, over its attempts.
func MeanBestOf(problems [][][]float64, k int, scale Scale) Estimate {
	var e Estimate
	var values, attempts []float64
	units := 0
	for _, of := range problems {
		var best []float64
		for _, sample := range of {
			if v, ok := BestOf(sample, k); ok {
				best, attempts = append(best, v), sample
			}
		}
		units += len(best)
		if len(best) == 0 {
			e.Short++
		} else {
			values = append(values, Mean(best))
		}
	}
	if e.Units = len(values); e.Units == 0 {
		return e
	}
	e.Value, e.Known = Mean(values), true
	switch {
	case units > 1:
		e.Interval = MeanInterval(values, scale)
	case k == 1:
		e.Interval = MeanInterval(attempts, scale)
	}
	return e
}
