package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

func pairs(differences []float64) (problems []Problem) {
	for _, d := range differences {
		problems = append(problems, Problem{{A: Attempts{Values: []float64{d}}, B: Attempts{Values: []float64{0}}}})
	}
	return problems
}

// Clusters of one problem each are as good as none.
func TestSingleClusters(t *testing.T) {
	differences := []float64{0.5, -0.25, 1, 0.75, 0, 0.125, -0.5, 0.3, 0.9, 0.2}
	clusters := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	with, without := CompareClusters(pairs(differences), clusters, Scale{}), Compare(pairs(differences), Scale{})
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if with.Clusters != 10 || !near(with.P, without.P) || !near(with.Difference, without.Difference) || !near(with.Detectable, without.Detectable) ||
		!near(with.Interval.Low, without.Interval.Low) || !near(with.Interval.High, without.Interval.High) {
		t.Errorf("%+v\n%+v", with, without)
	}
}

// Problems that repeat others of their clusters provide no more evidence than the clusters.
func TestRepeatedProblems(t *testing.T) {
	once := []float64{0.5, -0.25, 1, 0.75, 0.1, 0.125, -0.5, 0.3, 0.9, 0.2}
	var many []float64
	var clusters []int
	for i, d := range once {
		for range 20 {
			many, clusters = append(many, d), append(clusters, i)
		}
	}
	want, got, naive := Compare(pairs(once), Scale{}), CompareClusters(pairs(many), clusters, Scale{}), Compare(pairs(many), Scale{})
	if got.Problems != 200 || math.Abs(got.P-want.P) > 1e-9 || math.Abs(got.Interval.Low-want.Interval.Low) > 1e-9 || math.Abs(got.Detectable-want.Detectable) > 1e-9 {
		t.Errorf("%+v\n%+v", got, want)
	}
	if naive.P > want.P/10 {
		t.Errorf("p without clusters is %v, and %v with them: the test shows nothing", naive.P, want.P)
	}
	family := Correct([][]float64{got.Differences, got.Differences})
	if got.Correct(&family); !got.Shows || math.IsNaN(got.Detectable) {
		t.Errorf("%+v", got)
	}
}

func TestClusterIntervalBounds(t *testing.T) {
	var all []float64
	var clusters []int
	for i := range 40 {
		all, clusters = append(all, 1), append(clusters, i%8)
	}
	if i := ClusterInterval(all, clusters, Scale{0, 1}); i.Method != "wilson" || i != wilson(1, 8, Scale{0, 1}) {
		t.Errorf("%+v", i)
	}
	all[0] = 0
	if i := ClusterInterval(all, clusters, Scale{0, 1}); !i.Known || i.High > 1 || i.Low < 0.5 || i.Low > 0.975 {
		t.Errorf("%+v", i)
	}
	if i := ClusterInterval(nil, nil, Scale{0, 1}); i.Known {
		t.Errorf("%+v", i)
	}
}

// Of clusters with unequal sizes and a common part, intervals contain the truth, and p gives few false alarms; without
// clusters most are wrong.
func TestClusterCoverage(t *testing.T) {
	const count = 20
	rounds := longtest.Size(200, 1000)
	random := rand.New(rand.NewPCG(7, 7))
	hit, alarm, naive := 0, 0, 0
	for range rounds {
		var differences []float64
		var clusters []int
		for c := range count {
			common := random.NormFloat64()
			for range 5 + c { // sizes do not depend on the difference
				differences, clusters = append(differences, common+random.NormFloat64()), append(clusters, c)
			}
		}
		c := CompareClusters(pairs(differences), clusters, Scale{})
		if c.Interval.Low <= 0 && c.Interval.High >= 0 {
			hit++
		}
		if c.P <= Level {
			alarm++
		}
		if plain := MeanInterval(differences, Scale{}); plain.Low <= 0 && plain.High >= 0 {
			naive++
		}
	}
	if hit < rounds*91/100 || hit > rounds*98/100 || alarm > rounds*7/100 {
		t.Errorf("of %d intervals %d contain the truth, and %d p are false alarms", rounds, hit, alarm)
	}
	if naive > rounds*7/10 {
		t.Errorf("without clusters %d of %d intervals contain the truth: the test shows nothing", naive, rounds)
	}
}
