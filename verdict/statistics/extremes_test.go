package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// extremes are numbers at the ends of float64, and ordinary ones.
var extremes = []float64{0, 1, -1, 2.5, 1e-300, -1e-300, 1e150, -1e160, 1e308, -1e308, math.MaxFloat64, -math.MaxFloat64,
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, 1e16, 1e16 + 2}

func drawn(random *rand.Rand, n int) []float64 {
	kinds := 1 + random.IntN(len(extremes))
	sample := make([]float64, n)
	for i := range sample {
		sample[i] = extremes[random.IntN(kinds)]
	}
	random.Shuffle(n, func(i, j int) { sample[i], sample[j] = sample[j], sample[i] })
	return sample
}

// Figures of finite numbers are finite, and within their samples' bounds.
func TestExtremes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range longtest.Size(100, 1000) {
		n := 1 + random.IntN(24)
		if round%100 == 99 {
			n = 1100 // enough for the normal distribution of signs
		}
		sample, clusters := drawn(random, n), make([]int, n)
		for i := range clusters {
			clusters[i] = random.IntN(9)
		}
		least, most := sample[0], sample[0]
		for _, x := range sample {
			least, most = min(least, x), max(most, x)
		}
		check := func(what string, v float64) {
			t.Helper()
			if !Finite(v) {
				t.Errorf("%s of %v is %v", what, sample[:min(n, 30)], v)
			}
		}
		within := func(what string, v float64) {
			t.Helper()
			if reach := 1e-9 * (math.Abs(least)/2 + math.Abs(most)/2); !(v >= least-reach && v <= most+reach) {
				t.Errorf("%s of %v is %v", what, sample[:min(n, 30)], v)
			}
		}
		within("mean", Mean(sample))
		s := SpreadOf(sample)
		for _, v := range []float64{s.Min, s.Low, s.Median, s.High, s.Max} {
			within("quantile", v)
		}
		if best, ok := BestOf(sample, 1+random.IntN(n)); ok {
			within("best", best)
		}
		if i := MeanInterval(sample, Scale{}); i.Known {
			within("low", i.Low)
			within("high", i.High)
		}
		if i := ClusterInterval(sample, clusters, Scale{}); i.Known {
			check("low", i.Low)
			check("high", i.High)
		}
		if d := Detectable(sample, 2); !math.IsNaN(d) {
			check("detectable", d)
		}
		problems := make([]Problem, n)
		for i, b := range drawn(random, n) {
			problems[i] = Problem{{A: Attempts{Values: []float64{sample[i]}}, B: Attempts{Values: []float64{b}}}}
		}
		for _, of := range [][]int{nil, clusters} {
			c := CompareClusters(problems, of, Scale{})
			family := Correct([][]float64{c.Differences, c.Differences})
			c.Correct(&family)
			for what, v := range map[string]float64{"a": c.A, "b": c.B, "difference": c.Difference, "low": c.Interval.Low, "high": c.Interval.High} {
				check(what, v)
			}
			for what, p := range map[string]float64{"p": c.P, "corrected p": family.P[0]} {
				if !(p >= 0 && p <= 1) {
					t.Errorf("%s of %v is %v", what, sample[:min(n, 30)], p)
				}
			}
			if math.IsInf(c.Detectable, 0) {
				t.Errorf("detectable is %v", c.Detectable)
			}
			if c.Better+c.Less+c.Equal != n {
				t.Errorf("%d problems of %d", c.Better+c.Less+c.Equal, n)
			}
		}
	}
}

// A comparison of numbers times a power of two is that of the numbers, times the power.
func TestExtremesAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n := 1 + random.IntN(15)
		figures := func(exponent int) string {
			random := rand.New(rand.NewPCG(5, uint64(n)))
			problems := make([]Problem, n)
			for i := range problems {
				problems[i] = Problem{{A: Attempts{Values: times([]float64{random.NormFloat64(), random.NormFloat64()}, exponent)}, B: Attempts{Values: times([]float64{random.NormFloat64()}, exponent)}}}
			}
			c := CompareClusters(problems, nil, Scale{})
			all := times([]float64{c.A, c.B, c.Difference, c.Interval.Low, c.Interval.High, c.Detectable}, -exponent)
			return fmt.Sprint(all, c.P, c.Better, c.Equal, c.Less)
		}
		want := figures(0)
		for _, exponent := range []int{1020, -1000, 400} {
			if got := figures(exponent); got != want {
				t.Errorf("times 2^%d: %s, want %s", exponent, got, want)
			}
		}
	}
}
