package statistics

import "math"

// MeanRating is the mean of ratings.
const MeanRating = 1200

// Ratings rates players by the results of each in matches; a match has a number
// for each player that took part, and NaN for the others. Whoever has more wins
// against each that has less; equal ones draw. Minus infinity loses to every
// number.
//
// They are those of the model of Bradley and Terry on Elo's scale, where 400
// points are odds of ten to one, with a draw counted as half a win for both. Each
// player also has one draw with a player of average strength, so that who won
// everything has a rating, too. A player without matches has none: NaN.
func Ratings(players int, matches [][]float64) []float64 {
	wins := make([]float64, players)
	met := make([][]float64, players)
	for i := range met {
		met[i] = make([]float64, players)
	}
	played := make([]bool, players)
	for _, m := range matches {
		for i := range players {
			for j := range players {
				if i == j || math.IsNaN(m[i]) || math.IsNaN(m[j]) {
					continue
				}
				played[i] = true
				met[i][j]++
				switch {
				case m[i] > m[j]:
					wins[i]++
				case m[i] == m[j]:
					wins[i] += 0.5
				}
			}
		}
	}
	return scale(strengths(wins, met, played), played)
}

// strengths climbs to the maximum of the likelihood by minorization and
// maximization; the likelihood is concave, so where it begins does not matter.
func strengths(wins []float64, met [][]float64, played []bool) []float64 {
	const steps, enough = 10_000, 1e-12
	p := make([]float64, len(wins))
	for i := range p {
		p[i] = 1
	}
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

// Absent is a match in which none of the players takes part.
func Absent(players int) []float64 {
	match := make([]float64, players)
	for i := range match {
		match[i] = math.NaN()
	}
	return match
}
