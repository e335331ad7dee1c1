package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestManyPlayers: ratings of many players that are far apart take few steps, and are the
// maximum of the likelihood.
func TestManyPlayers(t *testing.T) {
	const players, rounds = 300, 60
	rng := rand.New(rand.NewPCG(1, 2))
	matches := make([][]float64, rounds)
	for m := range matches {
		matches[m] = make([]float64, players)
		for i := range players {
			switch {
			case rng.IntN(20) == 0:
				matches[m][i] = math.NaN()
			default:
				matches[m][i] = math.Floor(float64(i) + 10*rng.NormFloat64()) // mostly in order
			}
		}
	}
	wins, met, played := tally(players, matches)
	p := approach(wins, met, played)
	for i := range p {
		expected := p[i] / (p[i] + 1)
		for j, games := range met[i] {
			expected += games * p[i] / (p[i] + p[j])
		}
		if got := wins[i] + 0.5; math.Abs(got-expected) > 1e-6 {
			t.Fatalf("player %d has %v wins, and %v are expected", i, got, expected)
		}
	}
	// The same counts, pair by pair.
	for i := range players {
		var want, games float64
		for _, m := range matches {
			for j := range players {
				if i == j || math.IsNaN(m[i]) || math.IsNaN(m[j]) {
					continue
				}
				games++
				if m[i] > m[j] {
					want++
				} else if m[i] == m[j] {
					want += 0.5
				}
			}
		}
		sum := 0.0
		for _, n := range met[i] {
			sum += n
		}
		if wins[i] != want || sum != games {
			t.Fatalf("player %d has %v wins of %v, not %v of %v", i, wins[i], sum, want, games)
		}
	}
	ratings := Ratings(players, matches)
	if ratings[0] > ratings[players-1]-400 {
		t.Errorf("the last player has %v, and the first %v", ratings[players-1], ratings[0])
	}
}

func BenchmarkRatings(b *testing.B) {
	const players = 1000
	rng := rand.New(rand.NewPCG(1, 2))
	matches := make([][]float64, 200)
	for m := range matches {
		for i := range players {
			matches[m] = append(matches[m], float64(i)+50*rng.NormFloat64())
		}
	}
	for b.Loop() {
		Ratings(players, matches)
	}
}
