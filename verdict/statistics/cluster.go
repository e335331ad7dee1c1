package statistics

import "math"

// MinClusters is the least number of clusters that figures are made of. Fewer say too little about how clusters vary.
const MinClusters = fewest

// linearized returns a value for each cluster of a sample: their mean is that of the sample, and they vary like the mean
// of samples with other clusters. clusters has the index of each value's cluster. This is the linearization of a ratio
// whose numerator and denominator are sums over clusters, which makes intervals right where clusters have different sizes
// (Cochran 1977).
func linearized(sample []float64, clusters []int) []float64 {
	mean, off, sizes := Mean(sample), map[int]float64{}, []int{}
	for i, v := range sample {
		if _, known := off[clusters[i]]; !known {
			sizes = append(sizes, clusters[i])
		}
		off[clusters[i]] += v - mean
	}
	values := make([]float64, len(sizes))
	for i, cluster := range sizes { // in the order of the sample
		values[i] = mean + off[cluster]*float64(len(sizes))/float64(len(sample))
	}
	return values
}

// ClusterInterval returns the interval of the mean of a sample whose values belong to clusters, such as instances of a
// repository: values of a cluster resemble each other, so clusters count as what was drawn. Without clusters it is
// MeanInterval.
func ClusterInterval(sample []float64, clusters []int, scale Scale) Interval {
	if clusters == nil || len(sample) == 0 {
		return MeanInterval(sample, scale)
	}
	unit, exponent := normalized(sample)
	values := linearized(unit, clusters)
	i := MeanInterval(values, Scale{})
	i.Low, i.High = Saturated(math.Ldexp(i.Low, exponent)), Saturated(math.Ldexp(i.High, exponent))
	switch {
	case !scale.hasEnds():
	case i.Known:
		i.Low, i.High = max(i.Low, scale.Worst), min(i.High, scale.Best)
	default: // equal values, or few clusters: no values vary more than those at the ends
		i = wilson(Mean(sample), len(values), scale)
	}
	return i
}

// joinClusters replaces the differences of a comparison, which belong to clusters, by one for each of them.
func (c *Comparison) joinClusters(clusters, met []int) {
	most := 0
	for _, cluster := range clusters {
		most = max(most, cluster+1)
	}
	sums := make([]float64, most)
	for i, d := range c.Differences {
		sums[clusters[i]] += d
	}
	c.Differences, c.met, c.Single = sums, linearized(c.met, met), false
	c.Clusters = len(c.met)
}

// units returns the number of independent differences.
func (c *Comparison) units() int {
	if c.Clusters > 0 {
		return c.Clusters
	}
	return c.Problems
}
