package report

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// clusters are the clusters that problems belong to, such as repositories.
type clusters struct {
	of    map[string]int // index by problem; nil if each problem counts by itself
	count int            // of clusters that count
	few   int            // of clusters that do not count, as they are too few
}

// clustersOf returns the clusters of the problems of r. They count if each problem has one, if there are enough of them,
// and if any has several problems.
func clustersOf(r *Results) clusters {
	of, known := map[string]int{}, map[string]int{}
	for i := range r.Cells {
		cell := &r.Cells[i]
		if cell.Cluster == "" {
			return clusters{}
		}
		if _, ok := known[cell.Cluster]; !ok {
			known[cell.Cluster] = len(known)
		}
		of[cell.Problem] = known[cell.Cluster]
	}
	switch n := len(known); {
	case n == len(of), n < 2:
		return clusters{}
	case n < statistics.MinClusters:
		return clusters{few: n}
	default:
		return clusters{of, n, 0}
	}
}

// at returns the index of each problem's cluster; nil if each problem counts by itself.
func (k clusters) at(problems []string) []int {
	if k.of == nil {
		return nil
	}
	at := make([]int, len(problems))
	for i, problem := range problems {
		at[i] = k.of[problem]
	}
	return at
}

// ClusterNote describes the clusters of problems that intervals and p count, or that are too few; "" if there are none.
func (c *Contenders) ClusterNote() string {
	switch {
	case c.Clusters > 0:
		return fmt.Sprintf("problems of a task or a repository resemble each other: intervals and p count %d clusters instead of problems", c.Clusters)
	case c.FewClusters > 0:
		return fmt.Sprintf("problems are of %d tasks or repositories, which are too few to count as clusters; each problem counts by itself", c.FewClusters)
	}
	return ""
}
