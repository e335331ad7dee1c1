package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// world draws what two contenders differ by at a problem.
type world struct {
	name string
	mean float64 // must be in the interval
	draw func(*rand.Rand) float64
}

// attempts returns a world with problems of all difficulties, in which both contenders have several attempts at each,
// and A solves more of them by the effect.
func attempts(k int, effect float64) world {
	return world{fmt.Sprintf("%d attempts, effect %g", k, effect), effect, func(r *rand.Rand) float64 {
		p, solved := 0.7*r.Float64(), 0
		for range k {
			if r.Float64() < p+effect {
				solved++
			}
			if r.Float64() < p {
				solved--
			}
		}
		return float64(solved) / float64(k)
	}}
}

// scores is a world in which most scores are nearly equal and a few are far apart, in one direction.
var scores = world{"scores", 0.125, func(r *rand.Rand) float64 {
	if r.Float64() < 0.5 {
		return 0.05 * r.NormFloat64()
	}
	return r.Float64() * r.Float64()
}}

// simulate returns the share of experiments whose interval contains the mean, and of those whose p is at most Level.
func (w world) simulate(problems, rounds int) (covered, alarms float64) {
	r := rand.New(rand.NewPCG(7, uint64(problems)))
	differences := make([]float64, problems)
	within, below := 0, 0
	for range rounds {
		for i := range differences {
			differences[i] = w.draw(r)
		}
		if i := MeanInterval(differences, Scale{}); i.Known && i.Low <= w.mean && w.mean <= i.High {
			within++
		}
		if p, _ := SignFlip(differences); p <= Level {
			below++
		}
	}
	return float64(within) / float64(rounds), float64(below) / float64(rounds)
}

func (w world) test(t *testing.T, problems, rounds int) {
	t.Run(fmt.Sprintf("%s, %d problems", w.name, problems), func(t *testing.T) {
		t.Parallel()
		covered, alarms := w.simulate(problems, rounds)
		t.Logf("%.1f %% of intervals have the mean, p is at most %.2f in %.1f %%", 100*covered, Level, 100*alarms)
		if covered < 0.93 || covered > 0.97 {
			t.Errorf("%.1f %% of intervals have the mean", 100*covered)
		}
		if w.mean == 0 && alarms > 0.055 {
			t.Errorf("of equal contenders %.1f %% are shown to differ", 100*alarms)
		}
	})
}

func TestSimulated(t *testing.T) {
	for _, w := range []world{attempts(1, 0), scores} {
		w.test(t, 25, longtest.Size(400, 1000))
	}
	testFamily(t, longtest.Size(4, 6), 16, longtest.Size(30, 50))
	for _, s := range shares {
		s.test(t, 8, 1000)
	}
}

// TestSimulatedLong takes some minutes of the processors.
func TestSimulatedLong(t *testing.T) {
	if os.Getenv("FEVALGRAPH_TEST_SIMULATE") == "" {
		t.Skip("takes long; make simulate runs it")
	}
	for _, w := range []world{attempts(1, 0), attempts(1, 0.15), attempts(3, 0), attempts(3, 0.15), scores} {
		for _, problems := range []int{20, 60, 200} {
			w.test(t, problems, 100_000/problems)
		}
	}
	for _, contenders := range []int{3, 6, 12} {
		for _, problems := range []int{20, 60} {
			testFamily(t, contenders, problems, 200)
		}
	}
	for _, s := range shares {
		for _, problems := range []int{5, 8, 20, 50} {
			s.test(t, problems, 100_000/problems)
		}
	}
}

// share draws what one contender has at a problem, from a scale.
type share struct {
	name  string
	scale Scale
	mean  float64
	draw  func(*rand.Rand) float64
}

// shares are of single attempts that mostly pass or half pass, of several attempts at problems of all difficulties or
// of two kinds, and scores that are often 0.
var shares = []share{
	{"one attempt, 0.8", Scale{Best: 1}, 0.8, passes(1, func(*rand.Rand) float64 { return 0.8 })},
	{"one attempt, 0.5", Scale{Best: 1}, 0.5, passes(1, func(*rand.Rand) float64 { return 0.5 })},
	{"three attempts, of all difficulties", Scale{Best: 1}, 0.5, passes(3, (*rand.Rand).Float64)},
	{"five attempts, easy or hard", Scale{Best: 1}, 0.5, passes(5, func(r *rand.Rand) float64 { return 0.05 + 0.9*float64(r.IntN(2)) })},
	{"scores", Scale{Best: 100}, 25, func(r *rand.Rand) float64 {
		if r.Float64() < 0.5 {
			return 0
		}
		return 100 * r.Float64()
	}},
}

// passes draws the share of k attempts that pass at a problem of a difficulty.
func passes(k int, difficulty func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		p, passed := difficulty(r), 0
		for range k {
			if r.Float64() < p {
				passed++
			}
		}
		return float64(passed) / float64(k)
	}
}

// test checks that intervals always exist and contain the mean about as often as they claim, or more often for few
// problems.
func (s share) test(t *testing.T, problems, rounds int) {
	t.Run(fmt.Sprintf("%s, %d problems", s.name, problems), func(t *testing.T) {
		t.Parallel()
		r := rand.New(rand.NewPCG(13, uint64(problems)))
		sample, within, width := make([]float64, problems), 0, 0.0
		for range rounds {
			for i := range sample {
				sample[i] = s.draw(r)
			}
			i := MeanInterval(sample, s.scale)
			if !i.Known {
				t.Fatalf("%v: missing interval", sample)
			}
			width += (i.High - i.Low) / s.scale.Best / float64(rounds)
			if i.Low <= s.mean && s.mean <= i.High {
				within++
			}
		}
		covered := float64(within) / float64(rounds)
		t.Logf("%.1f %% of intervals have the mean; they are %.0f %% of the scale wide", 100*covered, 100*width)
		if covered < 0.93-2*math.Sqrt(0.95*0.05/float64(rounds)) {
			t.Errorf("%.1f %% of intervals have the mean", 100*covered)
		}
	})
}
