package report

import (
	"cmp"
	"slices"

	"github.com/maruel/natural"
)

// inOrder returns r in natural order: run2 before run10. With failuresFirst, cells that need
// attention come first.
func (r *Results) inOrder(failuresFirst bool) *Results {
	out := &Results{Schema: r.Schema, Run: r.Run, Cells: slices.Clone(r.Cells), Tasks: r.Tasks}
	rank := func(c *Cell) (rank int) {
		if !failuresFirst {
			return 0
		}
		for _, checkpoint := range c.Listed() {
			rank = max(rank, outcomeOf(&checkpoint).Rank())
		}
		return rank
	}
	slices.SortStableFunc(out.Cells, func(a, b Cell) int {
		return cmp.Or(
			cmp.Compare(rank(&b), rank(&a)),
			natural.Compare(a.Problem, b.Problem),
			natural.Compare(a.Solution, b.Solution),
			natural.Compare(a.Backend, b.Backend),
			cmp.Compare(a.Repeat, b.Repeat),
		)
	})
	return out
}

// Sort brings r into its canonical order: cells by problem, solution, backend and repeat; the checkpoints of a
// cell in the order of its problem, unlisted ones last in their current order. Tests keep report order. With a
// nil order, checkpoints are not sorted.
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
				rank[name] = n - 1<<30 // negative, so that unlisted names (0) are last
			}
		}
		slices.SortStableFunc(cell.Checkpoints, func(a, b Checkpoint) int {
			return cmp.Compare(rank[a.Name], rank[b.Name])
		})
	}
}
