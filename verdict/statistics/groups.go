package statistics

import "slices"

// Groups returns the largest groups of contenders in which no two differ significantly; a contender can be
// in several. Contenders are 0 to n-1, best first, as are groups and their members. differ reports whether
// two differ significantly.
func Groups(n int, differ func(a, b int) bool) [][]int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	groups := [][]int{all}
	for a := range n {
		for b := a + 1; b < n; b++ {
			if differ(a, b) {
				groups = split(groups, a, b)
			}
		}
	}
	slices.SortFunc(groups, slices.Compare)
	return groups
}

// split separates a and b into different groups, and removes groups that are subsets of others.
func split(groups [][]int, a, b int) [][]int {
	without := func(group []int, x int) []int {
		return slices.DeleteFunc(slices.Clone(group), func(y int) bool { return x == y })
	}
	var next [][]int
	for _, g := range groups {
		if slices.Contains(g, a) && slices.Contains(g, b) {
			next = append(next, without(g, a), without(g, b))
		} else {
			next = append(next, g)
		}
	}
	var whole [][]int
	for i, g := range next {
		part := slices.ContainsFunc(whole, func(o []int) bool { return within(g, o) }) ||
			slices.ContainsFunc(next[i+1:], func(o []int) bool { return len(o) > len(g) && within(g, o) })
		if !part {
			whole = append(whole, g)
		}
	}
	return whole
}

// within reports whether each of a is in b.
func within(a, b []int) bool {
	return !slices.ContainsFunc(a, func(x int) bool { return !slices.Contains(b, x) })
}
