package judge

import "math"

// group contains the ratios of a subtask, in the order of its cases.
type group struct {
	weight float64
	ratios []float64
}

func (g *group) add(ratio *float64) {
	n := math.NaN()
	if ratio != nil {
		n = *ratio
	}
	g.ratios = append(g.ratios, n)
}

// plain returns the mean of all ratios, times 100. It adds in the order of cases, divides, and then
// multiplies: scores are compared digit by digit, so the order matters.
func plain(groups []group) float64 {
	sum, n := 0.0, 0
	for _, g := range groups {
		for _, ratio := range g.ratios {
			sum += ratio
			n++
		}
	}
	return float64(sum/float64(n)) * 100
}

// weighted returns the mean of the subtasks' means by their weights, times 100, in the order of the
// subtasks.
func weighted(groups []group) float64 {
	sum, weights := 0.0, 0.0
	for _, g := range groups {
		own := 0.0
		for _, ratio := range g.ratios {
			own += ratio
		}
		mean := own / float64(len(g.ratios))
		sum += float64(g.weight * mean) // never fused with the addition
		weights += g.weight
	}
	return float64(sum/weights) * 100
}
