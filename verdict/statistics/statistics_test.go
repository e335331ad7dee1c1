package statistics

import (
	"fmt"
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

// choose returns C(n, k).
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

// It is unbiased: over many draws of n attempts its mean equals the result of k attempts.
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

// units returns problems with one unit each.
func units(samples ...[]float64) (problems [][][]float64) {
	for _, s := range samples {
		problems = append(problems, [][]float64{s})
	}
	return problems
}

func TestMeanBestOf(t *testing.T) {
	passes, points := Scale{Best: 1}, Scale{Best: 100}
	if e := MeanBestOf(units([]float64{1, 2, 3}), 3, points); e.Value != 3 || e.Interval.Known {
		t.Errorf("the best of all attempts at one problem is %+v", e)
	}
	mixed := units([]float64{1, 0, 1, 0}, []float64{0, 0, 0, 0}, []float64{1})
	e := MeanBestOf(mixed, 2, passes)
	near(t, "value", e.Value, (1-1.0/6)/2, 1e-12)
	if e.Units != 2 || e.Short != 1 || !(e.Low <= e.Value && e.Value <= e.High) || e.Low == e.High {
		t.Errorf("%+v", e)
	}
	if again := MeanBestOf(mixed, 2, passes); again != e {
		t.Errorf("%+v and then %+v", e, again)
	}
	// A problem counts once, on however many backends it was attempted.
	e = MeanBestOf([][][]float64{{{1}, {1}, {0}}, {{0}}}, 1, passes)
	near(t, "value", e.Value, 1.0/3, 1e-12)
	if e.Units != 2 {
		t.Errorf("%+v", e)
	}
	if e := MeanBestOf(nil, 1, passes); e.Known || e.Interval.Known {
		t.Errorf("no data has %+v", e)
	}
}

// Of SciPy 1.17.1, binomtest(8, 10).proportion_ci(method="wilson"), and statsmodels' proportion_confint.
func TestWilson(t *testing.T) {
	sample := []float64{1, 1, 1, 1, 1, 1, 1, 1, 0, 0}
	i := MeanInterval(sample, Scale{Best: 1})
	near(t, "low", i.Low, 0.4901625, 1e-6)
	near(t, "high", i.High, 0.9433178, 1e-6)
	for n := range sample { // scores of 0 and 100 have the same, times 100
		sample[n] *= 100
	}
	if j := MeanInterval(sample, Scale{Best: 100}); j.Method != "wilson" || math.Abs(j.Low-100*i.Low) > 1e-9 {
		t.Errorf("of points it is %+v", j)
	}
	i = MeanInterval([]float64{1, 0, 0, 1, 0, 0}, Scale{Best: 1})
	near(t, "low of 2 of 6", i.Low, 0.0968, 1e-4)
	near(t, "high of 2 of 6", i.High, 0.7000, 1e-4)
	none := MeanInterval(make([]float64, 6), Scale{Best: 1})
	near(t, "low of 0 of 6", none.Low, 0, 1e-12)
	near(t, "high of 0 of 6", none.High, 0.3903, 1e-4)
	if i := MeanInterval(nil, Scale{Best: 1}); i.Known {
		t.Errorf("no data has %+v", i)
	}
	if i := MeanInterval([]float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, Scale{Best: 1}); i.Known {
		t.Errorf("equal shares have %+v", i)
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

// The quartiles equal those of numpy.percentile.
func TestSpread(t *testing.T) {
	for _, test := range []struct {
		sample []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3, 3, 3}},
		{[]float64{5, 1}, Spread{1, 2, 3, 4, 5}},
		{[]float64{7, 1, 3, 2, 11, 4}, Spread{1, 2.25, 3.5, 6.25, 11}},
	} {
		got := SpreadOf(test.sample)
		for i, pair := range [][2]float64{{got.Min, test.want.Min}, {got.Low, test.want.Low}, {got.Median, test.want.Median}, {got.High, test.want.High}, {got.Max, test.want.Max}} {
			near(t, fmt.Sprint(test.sample, i), pair[0], pair[1], 1e-12)
		}
	}
}
