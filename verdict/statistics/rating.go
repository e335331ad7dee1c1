package statistics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// MeanRating is the mean of ratings.
const MeanRating = 1200

// Ratings rates players by their results in matches; a match has a number for each player that took part,
// and NaN for the others. A player with a higher number wins against each with a lower one; equal ones draw.
// Minus infinity loses to every number.
//
// The ratings follow the model of Bradley and Terry on Elo's scale, where 400 points are odds of ten to one,
// with a draw counted as half a win for both. Each player also has one draw with a player of average
// strength, so that a player who won everything has a rating, too. A player without matches has the rating
// NaN.
func Ratings(players int, matches [][]float64) []float64 {
	wins, met, played := tally(players, matches)
	return scale(strengths(wins, met, played), played)
}

// tally counts the wins of each player, and the matches of each pair.
func tally(players int, matches [][]float64) (wins []float64, met [][]float64, played []bool) {
	wins, met = make([]float64, players), make([][]float64, players)
	for i := range met {
		met[i] = make([]float64, players)
	}
	played = make([]bool, players)
	// Matches with the same players count together: comparing each pair in each match
	// would take most of the time.
	lineups := map[string]*lineup{}
	for _, m := range matches {
		var those []int
		for i := range players {
			if !math.IsNaN(m[i]) {
				those = append(those, i)
			}
		}
		if len(those) < 2 {
			continue
		}
		count(wins, m, those)
		key := fmt.Sprint(those)
		if lineups[key] == nil {
			lineups[key] = &lineup{players: those}
		}
		lineups[key].matches++
	}
	for _, l := range lineups {
		for _, i := range l.players {
			played[i] = true
			for _, j := range l.players {
				if i != j {
					met[i][j] += l.matches
				}
			}
		}
	}
	return wins, met, played
}

// lineup groups matches by their players.
type lineup struct {
	players []int
	matches float64
}

// count adds the wins of a match.
func count(wins, results []float64, players []int) {
	order := slices.Clone(players)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(results[a], results[b]) })
	for first := 0; first < len(order); {
		next := first
		for next < len(order) && results[order[next]] == results[order[first]] {
			next++
		}
		for _, i := range order[first:next] {
			wins[i] += float64(first) + 0.5*float64(next-first-1)
		}
		first = next
	}
}

// strengths returns the maximum of the likelihood, which is concave. A few steps of Newton's method come
// close to it. Minorization-maximization, which converges from any start, would need thousands of steps
// alone.
func strengths(wins []float64, met [][]float64, played []bool) []float64 {
	const steps, enough = 10_000, 1e-12
	p := approach(wins, met, played)
	for range steps {
		moved := 0.0
		for i := range p {
			if !played[i] {
				continue
			}
			games := 1 / (p[i] + 1) // the draw with the average
			for j, n := range met[i] {
				games += n / (p[i] + p[j])
			}
			next := (wins[i] + 0.5) / games
			moved = max(moved, math.Abs(math.Log(next/p[i])))
			p[i] = next
		}
		if moved < enough {
			break
		}
	}
	return p
}

// approach takes Newton's steps on the logarithms of strengths, each bounded. Players without
// matches keep the strength 1.
func approach(wins []float64, met [][]float64, played []bool) []float64 {
	const steps, most, enough = 100, 2.0, 1e-10
	n := len(wins)
	theta, gradient, diagonal := make([]float64, n), make([]float64, n), make([]float64, n)
	weight := make([][]float64, n) // weights of pairs in the second derivative
	for i := range weight {
		weight[i] = make([]float64, n)
	}
	for range steps {
		for i := range n {
			if !played[i] {
				continue
			}
			average := 1 / (1 + math.Exp(-theta[i]))
			gradient[i], diagonal[i] = wins[i]+0.5-average, average*(1-average)
			for j, games := range met[i] {
				if games > 0 {
					chance := 1 / (1 + math.Exp(theta[j]-theta[i]))
					weight[i][j] = games * chance * (1 - chance)
					gradient[i] -= games * chance
					diagonal[i] += weight[i][j]
				}
			}
		}
		step := solve(weight, diagonal, gradient, played)
		longest := 0.0
		for _, s := range step {
			longest = max(longest, math.Abs(s))
		}
		if math.IsNaN(longest) {
			break
		}
		for i := range theta {
			theta[i] += step[i] * min(1, most/max(longest, enough))
		}
		if longest < enough {
			break
		}
	}
	p := make([]float64, n)
	for i := range p {
		p[i] = math.Exp(theta[i])
	}
	return p
}

// solve returns x of (diagonal - weight) x = b by conjugate gradients.
func solve(weight [][]float64, diagonal, b []float64, played []bool) []float64 {
	n := len(b)
	x, r, z, d, product := make([]float64, n), slices.Clone(b), make([]float64, n), make([]float64, n), make([]float64, n)
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	condition := func() {
		for i := range z {
			if played[i] {
				z[i] = r[i] / diagonal[i]
			}
		}
	}
	condition()
	copy(d, z)
	rz := dot(r, z)
	first := rz
	for range 2 * n {
		if rz <= first*1e-20 {
			break
		}
		for i := range n {
			if played[i] {
				product[i] = diagonal[i]*d[i] - dot(weight[i], d)
			}
		}
		alpha := rz / dot(d, product)
		for i := range x {
			x[i] += alpha * d[i]
			r[i] -= alpha * product[i]
		}
		condition()
		next := dot(r, z)
		for i := range d {
			d[i] = z[i] + next/rz*d[i]
		}
		rz = next
	}
	return x
}

// scale turns strengths into ratings around MeanRating.
func scale(p []float64, played []bool) []float64 {
	ratings, sum, n := make([]float64, len(p)), 0.0, 0
	for i := range p {
		ratings[i] = 400 * math.Log10(p[i])
		if played[i] {
			sum += ratings[i]
			n++
		}
	}
	for i := range ratings {
		if !played[i] {
			ratings[i] = math.NaN()
			continue
		}
		ratings[i] += MeanRating - sum/float64(n)
	}
	return ratings
}

// Absent returns a match in which none of the players takes part.
func Absent(players int) []float64 {
	match := make([]float64, players)
	for i := range match {
		match[i] = math.NaN()
	}
	return match
}
