package statistics

import (
	"math"
	"slices"
	"testing"
)

// sample is of differences as problems with a few attempts have them.
var sample = []float64{0.5, -0.25, 0.75, 0, 1, 0.25, 0, -0.5, 0.25, 0.75, 0.3, 0.1}

// Of SciPy 1.17.1: stats.bootstrap(method="BCa", n_resamples=0) with these resamples, and at the
// confidence of the expanded quantile.
func TestCorrectAsSciPy(t *testing.T) {
	state, means := uint32(12345), []float64{}
	for range 400 {
		sum := 0.0
		for range sample {
			state = (1103515245*state + 12345) & (1<<31 - 1)
			sum += sample[int(state>>16)%len(sample)]
		}
		means = append(means, sum/float64(len(sample)))
	}
	slices.Sort(means)
	low, high := correct(sample, means, -1.959963984540054)
	near(t, "low", low, 0.025811808619747887, 1e-9)
	near(t, "high", high, 0.47916666666666674, 1e-9)
	z := expandedQuantile(len(sample))
	near(t, "expanded", z, -2.2988540247721727, 1e-9)
	low, high = correct(sample, means, z)
	near(t, "expanded low", low, 0, 1e-9)
	near(t, "expanded high", high, 0.5456934798652072, 1e-9)
}

// From R 4.2.2: boot.ci(type = "bca") of 200,000 resamples at the expanded confidence. Ours are other and fewer
// resamples, so the ends are close but not equal.
func TestMeanIntervalAsR(t *testing.T) {
	i := MeanInterval(sample, Scale{})
	near(t, "low", i.Low, -0.0125, 0.02)
	near(t, "high", i.High, 0.5375, 0.02)
	i = MeanInterval([]float64{1, 1, 1, -1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, -1, 0, 1, 0, 1, 0, 1, 0, 0, 1}, Scale{})
	near(t, "low of single attempts", i.Low, 0.04, 0.0401)
	near(t, "high of single attempts", i.High, 0.56, 0.0401)
	if again := MeanInterval(sample, Scale{}); again != MeanInterval(sample, Scale{}) {
		t.Errorf("the same sample has %v, then another interval", again)
	}
	for _, s := range [][]float64{nil, {1, 2, 3, 4}, {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}} {
		if i := MeanInterval(s, Scale{}); i.Known {
			t.Errorf("%v has the interval %v", s, i)
		}
	}
}

// Of SciPy 1.17.1: stats.permutation_test(permutation_type="samples", n_resamples=inf).
func TestSignFlipAsSciPy(t *testing.T) {
	twenty := []float64{.1, .2, .3, -.05, .4, .25, .3, .1, -.2, .15, .35, .05, .22, .18, -.3, .09, .41, .5, -.12, .07}
	for _, c := range []struct {
		sample []float64
		p      float64
	}{{sample, 0.068359375}, {[]float64{1, 1, 1, -1, 1, 0, 0, 1}, 0.21875}, {[]float64{1, -1}, 1}, {twenty, 0.00554656982421875}, {nil, 1}, {[]float64{0, 0}, 1}} {
		p, exact := SignFlip(c.sample)
		near(t, "p", p, c.p, 1e-12)
		if !exact {
			t.Errorf("p of %d differences is not exact", len(c.sample))
		}
	}
	// The same twenty, and a sample of an almost irrelevant one, agree.
	p, exact := SignFlip(append(twenty, 1e-6))
	near(t, "p of 21", p, 0.00554656982421875, 0.003)
	if exact {
		t.Error("p of 21 differences is exact")
	}
	// With many problems, the drawn and the normal distribution agree; the latter is used for more than a thousand.
	many := func(n int) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = float64(i%7) - 2.9 // a mean of 0.1, nearly
		}
		return s
	}
	drawn, _ := SignFlip(many(994))
	near(t, "p of 994", drawn, 2*normal(-math.Abs(Mean(many(994)))*math.Sqrt(994)/math.Sqrt(0.01+deviation(many(994))*deviation(many(994)))), 0.01)
	all := slices.Repeat([]float64{1}, 40)
	if p, _ := SignFlip(all); p > 2e-5 || p == 0 {
		t.Errorf("p of forty wins is %v", p)
	}
}

// Of statsmodels 0.15.0, mcnemar(exact=True), and of R's binom.test.
func TestMcNemarAsStatsmodels(t *testing.T) {
	for _, c := range []struct {
		first, second int
		p             float64
	}{{3, 12, 0.03515625}, {12, 3, 0.03515625}, {0, 6, 0.03125}, {5, 5, 1}, {1, 0, 1}, {40, 61, 0.046044066929342785}, {7, 9, 0.803619384765625}, {0, 0, 1}} {
		near(t, "p", McNemar(c.first, c.second), c.p, 1e-9)
	}
}

// Of R's power.t.test(type = "paired", power = 0.8), which has the noncentral distribution.
func TestDetectableAsR(t *testing.T) {
	near(t, "of twelve", Detectable(sample, studentCritical(len(sample))), 0.386952961776763, 0.001)
	// Fifty and two hundred with a deviation of 1.
	for _, c := range []struct {
		n    int
		want float64
	}{{50, 0.404184575323594}, {200, 0.199067620920879}} {
		s := make([]float64, c.n)
		for i := range s {
			s[i] = float64(i%2*2-1) * math.Sqrt(float64(c.n-1)/float64(c.n))
		}
		near(t, "of many", Detectable(s, studentCritical(c.n)), c.want, 0.0002)
	}
	if d := Detectable(make([]float64, 30), 2); !math.IsNaN(d) {
		t.Errorf("of equal contenders it is %v", d)
	}
}

// alone returns a problem with one unit.
func alone(a, b Attempts) Problem { return Problem{{A: a, B: b}} }

func TestCompare(t *testing.T) {
	one := func(v float64) Attempts { return Attempts{Values: []float64{v}} }
	problems := []Problem{
		alone(one(1), one(0)), alone(one(1), one(1)), alone(one(0), one(1)), alone(one(1), one(0)),
		alone(Attempts{Missing: 1}, one(1)), // no verdict
		nil,                                 // B never tried
	}
	c := Compare(problems, Scale{Best: 1})
	if c.Problems != 4 || c.Better != 2 || c.Equal != 1 || c.Less != 1 || c.Missing != 1 || !c.Single || c.Interval.Known || c.Shows {
		t.Errorf("it is %+v", c)
	}
	if want := []float64{1, 0, -1, 1, 0, 0}; !slices.Equal(c.Differences, want) {
		t.Errorf("differences are %v, want %v", c.Differences, want)
	}
	near(t, "A", c.A, 0.75, 1e-12)
	near(t, "B", c.B, 0.5, 1e-12)
	near(t, "difference", c.Difference, 0.25, 1e-12)
	near(t, "p", c.P, 1, 1e-12)
	near(t, "McNemar", c.McNemar, 1, 1e-12)
	// Over five problems: (1 + 0 - 1 + 1), and a missing verdict that is worth 0 or 1 against 1.
	near(t, "least", c.Least, 0, 1e-12)
	near(t, "most", c.Most, 0.2, 1e-12)

	// Several attempts are one sample, and no binary one.
	c = Compare([]Problem{alone(Attempts{Values: []float64{1, 0, 0}, Missing: 1}, Attempts{Values: []float64{0, 0}})}, Scale{Best: 1})
	if c.Single || c.Problems != 1 {
		t.Errorf("it is %+v", c)
	}
	near(t, "difference", c.Difference, 1.0/3, 1e-12)
	near(t, "least", c.Least, 0.25, 1e-12)
	near(t, "most", c.Most, 0.5, 1e-12)
	if c := Compare(nil, Scale{Best: 1}); c.P != 1 || c.Problems != 0 || c.Single {
		t.Errorf("no data compares as %+v", c)
	}
	if c := Compare(problems, Scale{}); !math.IsNaN(c.Least) || !math.IsNaN(c.Most) {
		t.Errorf("without a scale the bounds are %v and %v", c.Least, c.Most)
	}
}

// Equal contenders stay equal if a machine breaks for one of them, or one has more attempts at hard problems.
func TestCompareUnitByUnit(t *testing.T) {
	easy, hard := []float64{1}, []float64{0}
	var broken, repeated []Problem
	for range 8 {
		broken = append(broken, Problem{{A: Attempts{Values: easy}, B: Attempts{Values: easy}}, {A: Attempts{Missing: 1}, B: Attempts{Values: hard}}})
		repeated = append(repeated, Problem{{A: Attempts{Values: []float64{1, 1, 1}}, B: Attempts{Values: easy}}, {A: Attempts{Values: hard}, B: Attempts{Values: []float64{0, 0, 0}}}})
	}
	for name, problems := range map[string][]Problem{"broken": broken, "repeated": repeated} {
		if c := Compare(problems, Scale{Best: 1}); c.Difference != 0 || c.P != 1 || c.Equal != 8 {
			t.Errorf("%s: the difference is %v, p %v, %d are equal", name, c.Difference, c.P, c.Equal)
		}
	}
	// Values that differ only by the order of their sums are equal.
	thirds := Problem{{A: Attempts{Values: []float64{0.1, 0.2, 0.3}}, B: Attempts{Values: []float64{0.3, 0.2, 0.1}}}}
	if c := Compare([]Problem{thirds}, Scale{Best: 1}); c.Equal != 1 {
		t.Errorf("equal attempts in another order are %+v", c)
	}
}

func TestGroups(t *testing.T) {
	differ := func(pairs ...[2]int) func(a, b int) bool {
		return func(a, b int) bool { return slices.Contains(pairs, [2]int{a, b}) }
	}
	for _, c := range []struct {
		n      int
		differ func(a, b int) bool
		want   [][]int
	}{
		{3, differ(), [][]int{{0, 1, 2}}},
		{3, differ([2]int{0, 2}), [][]int{{0, 1}, {1, 2}}},
		{3, differ([2]int{0, 1}, [2]int{0, 2}, [2]int{1, 2}), [][]int{{0}, {1}, {2}}},
		{4, differ([2]int{0, 2}, [2]int{0, 3}, [2]int{1, 3}), [][]int{{0, 1}, {1, 2}, {2, 3}}},
		// The best differs from the second and not from the third, which varies more.
		{3, differ([2]int{0, 1}), [][]int{{0, 2}, {1, 2}}},
	} {
		if got := Groups(c.n, c.differ); !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("groups are %v, want %v", got, c.want)
		}
	}
}
