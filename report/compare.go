package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// Metrics lists the metrics for comparisons: whether cells are solved, the share of their checkpoints that
// passed, their scores, and their scores without a bound.
var Metrics = []string{"solved", "checkpoints", "score", "unbounded"}

// metric extracts the compared value from a cell. No value means no verdict, unless the metric does not apply
// to the cell.
type metric struct {
	value func(*verdict.Sample) (float64, bool)
	means func(*verdict.Sample) bool // whether the metric applies to the cell
	scale statistics.Scale
}

func metricOf(name string, r *Results) metric {
	switch name {
	case "score":
		return metric{verdict.ScoreValue, func(s *verdict.Sample) bool { return s.Scored() && !s.NoBounded }, verdict.Points}
	case "unbounded":
		return unboundedMetric(r)
	case "checkpoints":
		return metric{verdict.ShareValue, (*verdict.Sample).Ruled, verdict.Passes}
	}
	return metric{verdict.PassValue, (*verdict.Sample).Ruled, verdict.Passes}
}

// unboundedMetric returns the metric of unbounded scores. An attempt without a score counts as the worst: 0, or the
// worst score on its problem.
func unboundedMetric(r *Results) metric {
	worst := map[string]float64{}
	for i := range r.Cells {
		s := r.Cells[i].Sample()
		if v := s.Score.Unbounded; s.Scored() && v != nil && statistics.Finite(*v) {
			if s.Lower {
				worst[s.Problem] = max(worst[s.Problem], *v)
			} else {
				worst[s.Problem] = min(worst[s.Problem], *v)
			}
		}
	}
	given := func(s *verdict.Sample) bool { _, any := worst[s.Problem]; return any && s.Scored() }
	value := func(s *verdict.Sample) (float64, bool) {
		if v := s.Score.Unbounded; s.Judged() && v != nil && statistics.Finite(*v) {
			return *v, true
		}
		return worst[s.Problem], s.Judged()
	}
	return metric{value: value, means: given}
}

// Contenders is a comparison of contenders, sorted from best to worst.
type Contenders struct {
	Run    string
	Of     string // whose results these are, for titles; "" means those of Run
	Stale  int    // number of verdicts that are out of date
	By     string // axis
	Metric string
	All    []Contender
	Pairs  []ContenderPair // in the order of All
	Groups [][]int         // indices into All; members of a group do not differ significantly; nil if not all pairs are compared
	// Against is the index in All of the contender that all others are compared with, or -1 if all pairs are
	// compared.
	Against int
	// Unlabelled is the number of cells that are left out because their solution does not have the label By.
	Unlabelled int
	// Clusters is the number of clusters that count instead of problems; 0 if problems count. FewClusters is the number
	// of the problems' clusters if they are too few to count.
	Clusters, FewClusters int
	// Lower means that lower values are better.
	Lower bool
	// Notes are remarks on the files that were compared.
	Notes []string
}

// Contender is a value on an axis, with statistics of its cells.
type Contender struct {
	Name     string
	Problems int     // problems with a verdict
	Attempts int     // cells with a verdict
	Missing  int     // cells without one
	Mean     float64 // mean over problems of the mean over their units; NaN if Problems is 0
	Interval statistics.Interval
}

// ContenderPair compares two contenders, given by their indices in Contenders.All, on the problems that both
// attempted under the same circumstances, such as on the same backend.
type ContenderPair struct {
	A, B int
	statistics.Comparison
	Corrected float64 // P, adjusted for the number of pairs
	Shown     bool    // whether A and B differ significantly
}

// Rank orders the values on an axis by a metric, without comparing pairs.
func Rank(r *Results, axis, by string) *Contenders {
	c := &Contenders{Run: r.Run, By: axis, Metric: by, Against: -1, Lower: r.lower()}
	m, k := metricOf(by, r), clustersOf(r)
	c.Clusters, c.FewClusters = k.count, k.few
	attempts := c.attempts(r, m)
	for _, name := range slices.Sorted(maps.Keys(attempts)) {
		c.All = append(c.All, contender(name, attempts[name], m.scale, k))
	}
	c.sort()
	return c
}

func (c *Contenders) sort() {
	slices.SortStableFunc(c.All, func(a, b Contender) int {
		if c.Lower && !math.IsNaN(a.Mean) && !math.IsNaN(b.Mean) {
			return cmp.Compare(a.Mean, b.Mean)
		}
		return cmp.Compare(b.Mean, a.Mean) // sorts NaN last
	})
}

// Compare compares the named values on an axis, or all of them: with each other or, if against is not empty,
// with that value.
func Compare(r *Results, axis, by string, names []string, against string) (*Contenders, error) {
	if by == "" {
		var err error
		if by, err = usualMetric(r); err != nil {
			return nil, err
		}
	}
	c := &Contenders{Run: r.Run, By: axis, Metric: by, Against: -1, Lower: r.lower()}
	for i := range r.Cells {
		for _, checkpoint := range r.Cells[i].Checkpoints {
			if checkpoint.State != "" {
				c.Stale++
			}
		}
	}
	m, k := metricOf(by, r), clustersOf(r)
	c.Clusters, c.FewClusters = k.count, k.few
	attempts := c.attempts(r, m)
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(attempts))
	} else if against != "" && !slices.Contains(names, against) {
		names = append(slices.Clone(names), against)
	}
	if against != "" && attempts[against] == nil {
		names = []string{against} // for the error below
	}
	for _, name := range names {
		if attempts[name] == nil {
			return nil, fmt.Errorf("no cell with %s has the %s %q; known are %s", metricWords[by], axis, name, text.Some(slices.Sorted(maps.Keys(attempts)), 8))
		}
		c.All = append(c.All, contender(name, attempts[name], m.scale, k))
	}
	if len(c.All) < 2 {
		return nil, fmt.Errorf("nothing to compare: %s of cells with %s: %s", axis, metricWords[by], cmp.Or(strings.Join(names, ", "), "none"))
	}
	c.sort()
	if against != "" {
		c.Against = slices.IndexFunc(c.All, func(one Contender) bool { return one.Name == against })
	}
	c.compare(attempts, m.scale, k)
	return c, c.unmatchedError(attempts)
}

// unmatchedError returns an error if no two contenders attempted the same problem, with examples of their problems.
func (c *Contenders) unmatchedError(attempts map[string]attemptsByUnit) error {
	by := map[unit]string{}
	each := []string{}
	for _, one := range c.All {
		problems := map[string]bool{}
		for u := range attempts[one.Name] {
			if by[u] != "" {
				return nil
			}
			by[u], problems[u.problem] = one.Name, true
		}
		each = append(each, one.Name+" has "+text.Line(text.Some(slices.Sorted(maps.Keys(problems)), 3), 200))
	}
	where := map[bool]string{true: " with the same solution", false: " on the same backend"}[c.By == "backend"]
	return fmt.Errorf("no two attempted the same problem%s: %s", where, strings.Join(each[:min(len(each), 4)], "; "))
}

// metricWords describes the cells that each metric applies to.
var metricWords = map[string]string{"solved": "a rule to pass by", "checkpoints": "a rule to pass by", "score": "a score", "unbounded": "a score without a bound"}

// usualMetric returns the metric that applies to every cell.
func usualMetric(r *Results) (string, error) {
	scored, unbounded := 0, 0
	for i := range r.Cells {
		if s := r.Cells[i].Sample(); s.Scored() {
			scored++
			if s.NoBounded {
				unbounded++
			}
		}
	}
	switch {
	case scored == 0:
		return "solved", nil
	case unbounded == len(r.Cells):
		return "unbounded", nil
	case scored == len(r.Cells) && unbounded == 0:
		return "score", nil
	}
	return "", errors.New("some problems give scores, and others pass or fail: choose --metric score, unbounded, solved or checkpoints")
}

// unit identifies attempts that can be compared: a problem, under the circumstances that are not compared.
type unit struct{ problem, rest string }

// attempts returns the attempts of each contender at each unit, and counts the cells without the label.
func (c *Contenders) attempts(r *Results, m metric) map[string]attemptsByUnit {
	all := map[string]attemptsByUnit{}
	for i := range r.Cells {
		cell := &r.Cells[i]
		sample, name := cell.Sample(), cell.On(c.By)
		if !m.means(&sample) {
			continue
		}
		if name == "" {
			c.Unlabelled++
			continue
		}
		u := unit{cell.Problem, cell.Backend}
		if c.By == "backend" {
			u.rest = cell.Solution
		}
		if all[name] == nil {
			all[name] = attemptsByUnit{}
		}
		all[name].add(u, m, &sample)
	}
	return all
}

// attemptsByUnit maps units to attempts.
type attemptsByUnit map[unit]*statistics.Attempts

// attemptsAt returns the attempts at a unit.
func (a attemptsByUnit) attemptsAt(u unit) *statistics.Attempts {
	if a[u] == nil {
		a[u] = &statistics.Attempts{}
	}
	return a[u]
}

// add counts an attempt at a unit, even if the metric has no value.
func (a attemptsByUnit) add(u unit, m metric, s *verdict.Sample) {
	if v, ok := m.value(s); ok {
		a.attemptsAt(u).Values = append(a.attemptsAt(u).Values, v)
	} else {
		a.attemptsAt(u).Missing++
	}
}

func compareUnits(a, b unit) int {
	return cmp.Or(cmp.Compare(a.problem, b.problem), cmp.Compare(a.rest, b.rest))
}

// contender computes the statistics of a contender.
func contender(name string, units map[unit]*statistics.Attempts, scale statistics.Scale, k clusters) Contender {
	c := Contender{Name: name, Mean: math.NaN()}
	for _, of := range units {
		c.Missing += of.Missing
		c.Attempts += len(of.Values)
	}
	means, problems := problemMeans(units)
	if c.Problems = len(means); c.Problems > 0 {
		c.Mean, c.Interval = statistics.Mean(means), statistics.ClusterInterval(means, k.at(problems), scale)
	}
	return c
}

// problemMeans returns the means of problems, in order, each over its units with a verdict.
func problemMeans(units map[unit]*statistics.Attempts) (means []float64, names []string) {
	problems := map[string][]float64{}
	for _, u := range slices.SortedFunc(maps.Keys(units), compareUnits) {
		if of := units[u]; len(of.Values) > 0 {
			problems[u.problem] = append(problems[u.problem], of.Mean())
		}
	}
	names = slices.Sorted(maps.Keys(problems))
	for _, problem := range names {
		means = append(means, statistics.Mean(problems[problem]))
	}
	return means, names
}

// problemMean returns the mean over problems and the number of problems; NaN if there are none.
func problemMean(units map[unit]*statistics.Attempts) (mean float64, problems int) {
	means, _ := problemMeans(units)
	if len(means) == 0 {
		return math.NaN(), 0
	}
	return statistics.Mean(means), len(means)
}

// compare computes the pairs and groups.
func (c *Contenders) compare(attempts map[string]attemptsByUnit, scale statistics.Scale, k clusters) {
	for a := range c.All {
		for b := a + 1; b < len(c.All); b++ {
			if c.Against < 0 || a == c.Against || b == c.Against {
				c.Pairs = append(c.Pairs, ContenderPair{A: a, B: b})
			}
		}
	}
	problems := problemsOf(attempts)
	names := make([]string, len(problems))
	for i, units := range problems {
		names[i] = units[0].problem
	}
	at := k.at(names)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range c.Pairs {
		p := &c.Pairs[i]
		group.Go(func() error {
			p.Comparison = statistics.CompareClusters(sharedUnits(problems, attempts[c.All[p.A].Name], attempts[c.All[p.B].Name]), at, scale)
			if c.Lower {
				p.Better, p.Less = p.Less, p.Better
			}
			return nil
		})
	}
	group.Wait() // no error: it only computes
	c.correct()
	if c.Against < 0 {
		at := map[[2]int]*ContenderPair{}
		for i := range c.Pairs {
			at[[2]int{c.Pairs[i].A, c.Pairs[i].B}] = &c.Pairs[i]
		}
		c.Groups = statistics.Groups(len(c.All), func(a, b int) bool { return at[[2]int{a, b}].Shown })
	}
}

// correct adjusts p-values for multiple comparisons and makes groups.
func (c *Contenders) correct() {
	if len(c.Pairs) == 1 {
		p := &c.Pairs[0]
		p.Corrected, p.Shown = p.P, p.P <= statistics.Level
		return
	}
	rows := make([][]float64, len(c.Pairs))
	for i := range c.Pairs {
		rows[i] = c.Pairs[i].Differences
	}
	family := statistics.Correct(rows)
	for i := range c.Pairs {
		p := &c.Pairs[i]
		p.Comparison.Correct(&family)
		p.Corrected = max(p.P, family.P[i]) // both can be drawn
		p.Shown = p.Corrected <= statistics.Level
	}
}

// problemsOf returns all attempted problems with their units, in order.
func problemsOf(attempts map[string]attemptsByUnit) [][]unit {
	units := map[unit]bool{}
	for _, of := range attempts {
		for u := range of {
			units[u] = true
		}
	}
	var problems [][]unit
	for _, u := range slices.SortedFunc(maps.Keys(units), compareUnits) {
		if last := len(problems) - 1; last >= 0 && problems[last][0].problem == u.problem {
			problems[last] = append(problems[last], u)
		} else {
			problems = append(problems, []unit{u})
		}
	}
	return problems
}

// sharedUnits returns the units of each problem that both attempted.
func sharedUnits(problems [][]unit, a, b map[unit]*statistics.Attempts) []statistics.Problem {
	all := make([]statistics.Problem, len(problems))
	for i, units := range problems {
		for _, u := range units {
			if a[u] != nil && b[u] != nil {
				all[i] = append(all[i], statistics.Unit{A: *a[u], B: *b[u]})
			}
		}
	}
	return all
}
