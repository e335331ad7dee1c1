package report

import (
	"fmt"
	"strings"
	"testing"
)

// Clusters count in intervals, comparisons and ranks if there are enough of them, and the reader learns which count.
func TestClusters(t *testing.T) {
	for _, test := range []struct {
		per          int // problems in a cluster
		counted, few int
		note         string
	}{
		{1, 0, 0, ""},
		{3, 8, 0, "intervals and p count 8 clusters"},
		{6, 0, 4, "problems are of 4 tasks or repositories, which are too few"},
	} {
		r := contest(map[string]string{"a": strings.Repeat("ppf", 8), "b": strings.Repeat("pff", 8)})
		for i := range r.Cells {
			var number int
			fmt.Sscanf(r.Cells[i].Problem, "p%d", &number)
			r.Cells[i].Cluster = fmt.Sprint("repository", number/test.per)
		}
		c, err := Compare(r, "solution", "solved", nil, "")
		if err != nil {
			t.Fatal(err)
		}
		ranked := Rank(r, "solution", "solved")
		for _, one := range []*Contenders{c, ranked} {
			if one.Clusters != test.counted || one.FewClusters != test.few || (test.note == "") != (one.ClusterNote() == "") || !strings.Contains(one.ClusterNote(), test.note) {
				t.Errorf("%d problems in a cluster: %d count, %d are too few, %q", test.per, one.Clusters, one.FewClusters, one.ClusterNote())
			}
		}
		if c.Pairs[0].Clusters != test.counted || c.All[0].Interval != ranked.All[0].Interval {
			t.Errorf("%d problems in a cluster: the pair counts %d, intervals are %v and %v", test.per, c.Pairs[0].Clusters, c.All[0].Interval, ranked.All[0].Interval)
		}
	}
}
