package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/report/stats"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Metrics are what contenders can be compared by: whether cells are solved, the share of their
// checkpoints that passed, or their scores.
var Metrics = []string{"solved", "checkpoints", "score"}

// metric takes from a cell what it is compared by. A cell without a value has no verdict, unless
// the metric means nothing for it.
type metric struct {
	value func(*verdict.Sample) (float64, bool)
	means func(*verdict.Sample) bool // whether the metric means something for the cell
	best  float64                    // the worst is 0
}

func metricOf(name string) metric {
	switch name {
	case "score":
		return metric{verdict.ScoreValue, (*verdict.Sample).Scored, 100}
	case "checkpoints":
		return metric{verdict.ShareValue, (*verdict.Sample).Ruled, 1}
	}
	return metric{verdict.PassValue, (*verdict.Sample).Ruled, 1}
}

// Contenders are compared with each other, the best first.
type Contenders struct {
	Run    string
	Of     string // whose results these are, in words; "" means those of Run
	Stale  int    // verdicts that no longer hold
	By     string // the axis that they are on
	Metric string
	All    []Contender
	Pairs  []ContenderPair // in the order of All
	Groups [][]int         // of All, no two of a group being shown to differ
}

// Contender is one value on an axis, over all of its cells.
type Contender struct {
	Name     string
	Problems int     // with a verdict
	Attempts int     // cells with a verdict
	Missing  int     // cells without one
	Mean     float64 // over problems, of the mean of their attempts
	Interval stats.Interval
}

// ContenderPair is two contenders, by their places in Contenders.All, at the problems that both
// attempted under the same circumstances, such as on the same backend.
type ContenderPair struct {
	A, B int
	stats.Comparison
	Corrected float64 // P, corrected for the number of pairs
	Shown     bool    // that A and B differ
}

// Rank orders what cells have on an axis by a metric, and compares no pairs.
func Rank(r *Results, axis, by string) *Contenders {
	c := &Contenders{Run: r.Run, By: axis, Metric: by}
	attempts := attemptsOf(r, axis, metricOf(by))
	for _, name := range slices.Sorted(maps.Keys(attempts)) {
		c.All = append(c.All, contender(name, attempts[name]))
	}
	c.sort()
	return c
}

func (c *Contenders) sort() {
	slices.SortStableFunc(c.All, func(a, b Contender) int { return cmp.Compare(b.Mean, a.Mean) })
}

// Compare compares those of the names, or all, that cells have on an axis.
func Compare(r *Results, axis, by string, names []string) (*Contenders, error) {
	if by == "" {
		var err error
		if by, err = usualMetric(r); err != nil {
			return nil, err
		}
	}
	c := &Contenders{Run: r.Run, By: axis, Metric: by}
	for i := range r.Cells {
		for _, checkpoint := range r.Cells[i].Checkpoints {
			if checkpoint.State != "" {
				c.Stale++
			}
		}
	}
	m := metricOf(by)
	attempts := attemptsOf(r, axis, m)
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(attempts))
	}
	for _, name := range names {
		if attempts[name] == nil {
			return nil, fmt.Errorf("no cell that has %s is of the %s %q; there are %s", metricWords[by], axis, name, text.Some(slices.Sorted(maps.Keys(attempts)), 8))
		}
		c.All = append(c.All, contender(name, attempts[name]))
	}
	if len(c.All) < 2 {
		return nil, fmt.Errorf("there is nothing to compare: %s of cells that have %s: %s", axis, metricWords[by], cmp.Or(strings.Join(names, ", "), "none"))
	}
	c.sort()
	c.compare(attempts, m.best)
	return c, nil
}

// metricWords are what a cell has that a metric means something for.
var metricWords = map[string]string{"solved": "a rule to pass by", "checkpoints": "a rule to pass by", "score": "a score"}

// usualMetric is the one that means something for every cell.
func usualMetric(r *Results) (string, error) {
	scored := 0
	for i := range r.Cells {
		if s := r.Cells[i].Sample(); s.Scored() {
			scored++
		}
	}
	switch scored {
	case 0:
		return "solved", nil
	case len(r.Cells):
		return "score", nil
	}
	return "", errors.New("some problems give scores, and others pass or fail: --metric score, solved or checkpoints says what is compared")
}

// unit is what attempts of several contenders are attempts at: a problem, under the circumstances
// that are not compared.
type unit struct{ problem, rest string }

// attemptsOf are those of each contender at each unit.
func attemptsOf(r *Results, axis string, m metric) map[string]map[unit]*stats.Attempts {
	all := map[string]map[unit]*stats.Attempts{}
	for i := range r.Cells {
		cell := &r.Cells[i]
		sample, name := cell.Sample(), cell.On(axis)
		if name == "" || !m.means(&sample) {
			continue
		}
		u := unit{cell.Problem, cell.Backend}
		if axis == "backend" {
			u.rest = cell.Solution
		}
		if all[name] == nil {
			all[name] = map[unit]*stats.Attempts{}
		}
		if all[name][u] == nil {
			all[name][u] = &stats.Attempts{}
		}
		if v, ok := m.value(&sample); ok {
			all[name][u].Values = append(all[name][u].Values, v)
		} else {
			all[name][u].Missing++
		}
	}
	return all
}

// byProblem are the attempts at each problem, of the units that there are.
func byProblem(units map[unit]*stats.Attempts, keep func(unit) bool) map[string]stats.Attempts {
	problems := map[string]stats.Attempts{}
	for _, u := range slices.SortedFunc(maps.Keys(units), compareUnits) {
		if keep(u) {
			all := problems[u.problem]
			all.Values = append(all.Values, units[u].Values...)
			all.Missing += units[u].Missing
			problems[u.problem] = all
		}
	}
	return problems
}

func compareUnits(a, b unit) int {
	return cmp.Or(cmp.Compare(a.problem, b.problem), cmp.Compare(a.rest, b.rest))
}

func contender(name string, units map[unit]*stats.Attempts) Contender {
	c := Contender{Name: name}
	problems := byProblem(units, func(unit) bool { return true })
	var means []float64
	for _, problem := range slices.Sorted(maps.Keys(problems)) {
		of := problems[problem]
		c.Missing += of.Missing
		c.Attempts += len(of.Values)
		if len(of.Values) > 0 {
			means = append(means, of.Mean())
		}
	}
	c.Problems = len(means)
	c.Mean, c.Interval = stats.Mean(means), stats.MeanInterval(means)
	return c
}

// compare makes the pairs, and the groups that they leave.
func (c *Contenders) compare(attempts map[string]map[unit]*stats.Attempts, best float64) {
	for a := range c.All {
		for b := a + 1; b < len(c.All); b++ {
			c.Pairs = append(c.Pairs, ContenderPair{A: a, B: b})
		}
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range c.Pairs {
		p := &c.Pairs[i]
		group.Go(func() error {
			p.Comparison = stats.Compare(shared(attempts[c.All[p.A].Name], attempts[c.All[p.B].Name]), 0, best)
			return nil
		})
	}
	group.Wait() // no error: it only computes
	ps, at := make([]float64, len(c.Pairs)), map[[2]int]*ContenderPair{}
	for i := range c.Pairs {
		ps[i], at[[2]int{c.Pairs[i].A, c.Pairs[i].B}] = c.Pairs[i].P, &c.Pairs[i]
	}
	for i, p := range stats.Holm(ps) {
		c.Pairs[i].Corrected, c.Pairs[i].Shown = p, p <= stats.Level
	}
	c.Groups = stats.Groups(len(c.All), func(a, b int) bool { return at[[2]int{a, b}].Shown })
}

// shared are the problems of units that both attempted, in order.
func shared(a, b map[unit]*stats.Attempts) []stats.Problem {
	both := func(u unit) bool { return a[u] != nil && b[u] != nil }
	ofA, ofB := byProblem(a, both), byProblem(b, both)
	var all []stats.Problem
	for _, problem := range slices.Sorted(maps.Keys(ofA)) {
		all = append(all, stats.Problem{A: ofA[problem], B: ofB[problem]})
	}
	return all
}
