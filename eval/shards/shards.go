// Package shards divides cells among machines that do not communicate while they work, such as the jobs of a CI
// pipeline.
package shards

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Cell is a cell with work to do.
type Cell struct {
	Name    string
	Problem string
	Seconds float64 // without shared work; 0 if unknown
	// Common lists its shared work, as indices into the argument of Divide. Each shard with one of the cells
	// does it once.
	Common []int
}

// Shard is the work of one machine.
type Shard struct {
	Shard   int      `json:"shard"` // from 1
	Of      int      `json:"of"`
	Seconds float64  `json:"expected_seconds"` // sequential duration of its work
	Cells   []string `json:"cells"`            // see plan.CellID.String
}

// Parse parses the name of a shard, I/N.
func Parse(text string) (index, count int, err error) {
	i, n, found := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !found || err1 != nil || err2 != nil || count < 1 || index < 1 || index > count {
		return 0, 0, fmt.Errorf("--shard %s: want I/N with 1 <= I <= N, such as 1/4, or %s", text, Shared)
	}
	return index, count, nil
}

// unknown is the expected duration of a cell if no duration is known.
const unknown = 30

// Divide returns at most count shards, each with a cell, with about equally long work. A count of 0 means as
// many as needed for each to stay below limit seconds. common contains the seconds of work that several cells
// share. Cells keep their order within a shard. The longest cells are assigned first, each to the shard that
// would finish first with it or, if shards would finish at about the same time, to a shard with cells of the
// same problem.
func Divide(cells []Cell, common []float64, count int, limit float64) []Shard {
	cells = withEstimates(cells)
	if count == 0 {
		count = shardCount(cells, common, limit)
	}
	shards := make([]load, min(count, len(cells)))
	order := make([]int, len(cells))
	total := 0.0
	for i := range cells {
		order[i] = i
		total += cells[i].Seconds
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cells[b].Seconds, cells[a].Seconds) })
	slack := total / float64(max(1, len(shards))) * tolerance
	for _, i := range order {
		at := choose(shards, &cells[i], common, slack)
		shards[at].add(i, &cells[i], common)
	}
	found := make([]Shard, len(shards))
	for i, s := range shards {
		slices.Sort(s.cells)
		found[i] = Shard{Shard: i + 1, Of: len(shards), Seconds: s.seconds}
		for _, c := range s.cells {
			found[i].Cells = append(found[i].Cells, cells[c].Name)
		}
	}
	return found
}

// tolerance is the share of a shard's work by which shards can differ in order to keep the cells of a problem
// together.
const tolerance = 0.05

// load is a shard that is being filled.
type load struct {
	cells    []int
	seconds  float64
	problems map[string]bool
	common   map[int]bool
}

// secondsWith returns the duration of the shard with another cell.
func (l *load) secondsWith(c *Cell, common []float64) float64 {
	seconds := l.seconds + c.Seconds
	for _, w := range c.Common {
		if !l.common[w] {
			seconds += common[w]
		}
	}
	return seconds
}

func (l *load) add(i int, c *Cell, common []float64) {
	if l.problems == nil {
		l.problems, l.common = map[string]bool{}, map[int]bool{}
	}
	l.seconds = l.secondsWith(c, common)
	l.cells = append(l.cells, i)
	l.problems[c.Problem] = true
	for _, w := range c.Common {
		l.common[w] = true
	}
}

// choose returns the shard for a cell.
func choose(shards []load, c *Cell, common []float64, slack float64) int {
	earliest := math.Inf(1)
	for i := range shards {
		earliest = min(earliest, shards[i].secondsWith(c, common))
	}
	best := -1
	for i := range shards {
		if shards[i].secondsWith(c, common) > earliest+slack {
			continue
		}
		if best < 0 || shards[i].problems[c.Problem] && !shards[best].problems[c.Problem] ||
			shards[i].problems[c.Problem] == shards[best].problems[c.Problem] && shards[i].seconds < shards[best].seconds {
			best = i
		}
	}
	return best
}

// shardCount returns the number of shards that stay below a limit if all are filled equally.
func shardCount(cells []Cell, common []float64, limit float64) int {
	total := 0.0
	for i := range cells {
		total += cells[i].Seconds
	}
	for _, seconds := range common {
		total += seconds
	}
	return max(1, int(math.Ceil(total/limit)))
}

// withEstimates sets the median of known durations for cells without one.
func withEstimates(cells []Cell) []Cell {
	var known []float64
	for _, c := range cells {
		if c.Seconds > 0 {
			known = append(known, c.Seconds)
		}
	}
	median := float64(unknown)
	if len(known) > 0 {
		slices.Sort(known)
		median = known[len(known)/2]
	}
	cells = slices.Clone(cells)
	for i := range cells {
		if cells[i].Seconds <= 0 {
			cells[i].Seconds = median
		}
	}
	return cells
}
