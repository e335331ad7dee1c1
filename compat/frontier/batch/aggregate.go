package batch

import (
	"maps"
	"slices"
	"strconv"
)

// aggregateCSV returns by_model.csv or by_problem.csv: a line for each key, sorted. Means are over the
// finite scores of successful results; scores are cut to 0 to 100 for them, unbounded scores are not.
func aggregateCSV(name string, results []Result, key func(Result) string) []byte {
	groups := map[string][]Result{}
	for _, r := range sorted(results) {
		groups[key(r)] = append(groups[key(r)], r)
	}
	var t table
	t.line(name, "total", "successful", "failed", "avg_score", "min_score", "max_score",
		"avg_score_unbounded", "min_score_unbounded", "max_score_unbounded")
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		var bounded, unbounded []float64
		successful := 0
		for _, r := range groups[k] {
			if r.Status != Success {
				continue
			}
			successful++
			if finite(r.Score) {
				bounded = append(bounded, max(0, min(100, *r.Score)))
			}
			if finite(r.Unbounded) {
				unbounded = append(unbounded, *r.Unbounded)
			}
		}
		total := len(groups[k])
		fields := []string{k, strconv.Itoa(total), strconv.Itoa(successful), strconv.Itoa(total - successful)}
		t.line(slices.Concat(fields, spread(bounded), spread(unbounded))...)
	}
	return t.content
}

// spread returns mean, minimum and maximum, or three empty fields if there are no numbers.
func spread(numbers []float64) []string {
	if len(numbers) == 0 {
		return []string{"", "", ""}
	}
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	mean, least, greatest := sum/float64(len(numbers)), slices.Min(numbers), slices.Max(numbers)
	return []string{decimal(&mean), decimal(&least), decimal(&greatest)}
}
