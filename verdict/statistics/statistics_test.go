package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// choose is C(n, k).
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c
}

// For passes and failures BestOf is pass@k by its formula.
func TestBestOfIsPassAt(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for c := 0; c <= n; c++ {
			sample := make([]float64, n)
			for i := range c {
				sample[(i*5)%n] = 1
			}
			passed := 0
			for _, x := range sample {
				passed += int(x)
			}
			for k := 1; k <= n; k++ {
				got, ok := BestOf(sample, k)
				if !ok {
					t.Fatalf("no best of %d among %d", k, n)
				}
				want := 1.0
				if n-passed >= k {
					want = 1 - choose(n-passed, k)/choose(n, k)
				}
				near(t, "pass@k", got, want, 1e-12)
			}
		}
	}
}

// For any numbers it is the mean over all choices.
func TestBestOfIsMeanOverChoices(t *testing.T) {
	sample := []float64{3, -2, 7.5, 7.5, 0}
	for k := 1; k <= len(sample); k++ {
		sum, count := 0.0, 0
		for choice := range 1 << len(sample) {
			best, size := math.Inf(-1), 0
			for i, x := range sample {
				if choice>>i&1 == 1 {
					best, size = max(best, x), size+1
				}
			}
			if size == k {
				sum, count = sum+best, count+1
			}
		}
		got, _ := BestOf(sample, k)
		near(t, "best of k", got, sum/float64(count), 1e-12)
	}
	for _, k := range []int{-1, 0, 6} {
		if _, ok := BestOf(sample, k); ok {
			t.Errorf("there is a best of %d among 5", k)
		}
	}
}

// It is unbiased: over many draws of n attempts its mean is what k attempts give.
func TestBestOfIsUnbiased(t *testing.T) {
	const n, k, p, draws = 6, 3, 0.3, 20000
	random := rand.New(rand.NewPCG(7, 7))
	sum := 0.0
	for range draws {
		sample := make([]float64, n)
		for i := range sample {
			if random.Float64() < p {
				sample[i] = 1
			}
		}
		v, _ := BestOf(sample, k)
		sum += v
	}
	near(t, "mean", sum/draws, 1-math.Pow(1-p, k), 0.01)
}

func TestMeanBestOf(t *testing.T) {
	e := MeanBestOf([][]float64{{1, 2, 3}}, 3)
	if e.Value != 3 || e.High != 3 || !(e.Low < 3) {
		t.Errorf("%+v", e)
	}
	e = MeanBestOf([][]float64{{1, 0, 1, 0}, {0, 0, 0, 0}, {1}}, 2)
	near(t, "value", e.Value, (1-1.0/6)/2, 1e-12)
	if e.Units != 2 || e.Short != 1 || e.Method != "bootstrap" || !(e.Low <= e.Value && e.Value <= e.High) || e.Low == e.High {
		t.Errorf("%+v", e)
	}
	if again := MeanBestOf([][]float64{{1, 0, 1, 0}, {0, 0, 0, 0}, {1}}, 2); again != e {
		t.Errorf("%+v and then %+v", e, again)
	}
	// 8 of 10: a known interval.
	var single [][]float64
	for i := range 10 {
		single = append(single, []float64{map[bool]float64{true: 1}[i < 8]})
	}
	if e := MeanBestOf(single, 1); e.Method != "bootstrap" || e.Value != 0.8 {
		t.Errorf("numbers that are all 0 or 1 are no passes: %+v", e)
	}
	e = PassAt(single, 1)
	near(t, "low", e.Low, 0.4901625, 1e-6)
	near(t, "high", e.High, 0.9433178, 1e-6)
	if e.Method != "wilson" {
		t.Errorf("%+v", e)
	}
	if e := MeanBestOf([][]float64{{42}}, 1); !e.Known || e.Bounded {
		t.Errorf("one number has the interval %+v", e)
	}
	if e := MeanBestOf(nil, 1); e.Known || e.Bounded {
		t.Errorf("nothing has %+v", e)
	}
}

// Nine of ten true values of normal samples are to be in 95 % intervals, at least.
func TestBootstrapCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	const tries = 40
	in := 0
	for range tries {
		var samples [][]float64
		for range 40 {
			samples = append(samples, []float64{50 + 10*random.NormFloat64()})
		}
		if e := MeanBestOf(samples, 1); e.Low <= 50 && 50 <= e.High {
			in++
		}
	}
	if in < tries*9/10-2 {
		t.Errorf("%d of %d intervals hold the mean", in, tries)
	}
}

func TestRatings(t *testing.T) {
	nan, lost := math.NaN(), math.Inf(-1)
	r := Ratings(4, [][]float64{{3, 2, lost, nan}, {3, 2, 1, nan}, {2, 2, 1, nan}})
	if !(r[0] > r[1] && r[1] > r[2]) || !math.IsNaN(r[3]) {
		t.Errorf("ratings %v", r)
	}
	near(t, "mean", (r[0]+r[1]+r[2])/3, MeanRating, 1e-9)
	even := Ratings(2, [][]float64{{1, 1}, {5, 5}})
	near(t, "even", even[0], MeanRating, 1e-9)
	near(t, "even", even[1], MeanRating, 1e-9)
	a := Ratings(2, [][]float64{{1, 0}, {0, 1}, {1, 0}, {1, 0}})
	near(t, "symmetry", a[0]-MeanRating, MeanRating-a[1], 1e-6)
}

func TestSummarize(t *testing.T) {
	if s := Summarize([]float64{1, -3, 5}); s != (Summary{3, 1, -3, 5}) {
		t.Errorf("%+v", s)
	}
	if s := Summarize(nil); s != (Summary{}) {
		t.Errorf("%+v", s)
	}
	if Finite(math.NaN()) || Finite(math.Inf(-1)) || !Finite(0) {
		t.Error("Finite")
	}
}
