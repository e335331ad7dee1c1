package report

import (
	"cmp"
	"slices"
)

// Sort brings r into its canonical order: cells by problem, solution, backend
// and repeat; the checkpoints of a cell as order lists them for its problem,
// any others after those in the order they have. Tests keep report order. A
// nil order leaves checkpoints alone.
func (r *Results) Sort(order func(problem string) []string) {
	slices.SortStableFunc(r.Cells, func(a, b Cell) int {
		return cmp.Or(
			cmp.Compare(a.Problem, b.Problem),
			cmp.Compare(a.Solution, b.Solution),
			cmp.Compare(a.Backend, b.Backend),
			cmp.Compare(a.Repeat, b.Repeat),
		)
	})
	if order == nil {
		return
	}
	rank := make(map[string]int)
	for i := range r.Cells {
		cell := &r.Cells[i]
		if i == 0 || r.Cells[i-1].Problem != cell.Problem {
			clear(rank)
			for n, name := range order(cell.Problem) {
				rank[name] = n - 1<<30 // below the 0 of names that are not listed
			}
		}
		slices.SortStableFunc(cell.Checkpoints, func(a, b Checkpoint) int {
			return cmp.Compare(rank[a.Name], rank[b.Name])
		})
	}
}
