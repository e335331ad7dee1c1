package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/maruel/natural"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// CheckpointsFigure draws how many problems each of the best solutions solves as checkpoints go on. It is
// false unless some problem has several.
func CheckpointsFigure(r *Results) (f draw.Figure, ok bool) {
	f = draw.Figure{Name: "checkpoints", Title: "Share of problems whose checkpoint passes, by checkpoint",
		Columns: []string{"solution", "checkpoint", "share", "low", "high", "problems"}}
	type key struct {
		solution string
		n        int
	}
	units := map[key]map[unit]*statistics.Attempts{}
	longest := 0
	for i := range r.Cells {
		c := &r.Cells[i]
		if s := c.Sample(); !s.Ruled() || !s.Judged() || s.Scored() {
			continue
		}
		longest = max(longest, len(c.Checkpoints))
		for n := range c.Checkpoints {
			k, u := key{c.Solution, n}, unit{c.Problem, c.Backend}
			if units[k] == nil {
				units[k] = map[unit]*statistics.Attempts{}
			}
			if units[k][u] == nil {
				units[k][u] = &statistics.Attempts{}
			}
			passed := 0.0
			if c.Checkpoints[n].Passed {
				passed = 1
			}
			units[k][u].Values = append(units[k][u].Values, passed)
		}
	}
	if longest < 2 {
		return f, false
	}
	type series struct {
		name   string
		points []Contender
	}
	shares := map[string][]float64{}
	for name, mean := range solutionMeans(r, "checkpoints") {
		if statistics.Finite(mean) {
			shares[name] = []float64{mean}
		}
	}
	var all []series
	for i, one := range byMean(shares) {
		s := series{name: one}
		for n := range longest {
			if at := units[key{one, n}]; at != nil {
				p := Contender{Name: one}
				if p.Mean, p.Problems = problemMean(at); i < mostBars {
					p = contender(one, at, verdict.Passes)
				}
				s.points = append(s.points, p)
				low, high := "", ""
				if p.Interval.Known {
					low, high = full(p.Interval.Low), full(p.Interval.High)
				}
				f.Rows = append(f.Rows, []string{one, strconv.Itoa(n + 1), full(p.Mean), low, high, strconv.Itoa(p.Problems)})
			}
		}
		if len(s.points) > 0 {
			all = append(all, s)
		}
	}
	f.Note = "Means over the problems that have so many checkpoints: later ones are of fewer problems. Bars are the 95 % intervals of the first and the last." + leftOut(len(all)-draw.Series, "solution")
	all = all[:min(len(all), draw.Series)]
	f.Plot = func(width float64) *draw.Drawing {
		var names []string
		for _, s := range all {
			names = append(names, s.name)
		}
		right := width - nameWidth(names, 0.34*width) - 6
		const top, bottom, left = 10, 270, 44
		d := &draw.Drawing{Width: width, Height: bottom + 34}
		x := draw.Scale{From: 0, To: float64(longest - 1), Start: left + 14, End: right - 10}
		y := draw.Scale{From: 0, To: 1, Start: bottom, End: top}
		leftAxis(d, y, left, right, percentTick)
		for n := range longest {
			if longest <= 12 || n%(longest/6) == 0 {
				d.Text(x.At(float64(n)), bottom+12, "middle", "fdim small", strconv.Itoa(n+1))
			}
		}
		d.Text((left+right)/2, bottom+26, "middle", "fdim small", "checkpoint")
		ends := make([]float64, len(all))
		for k, s := range all {
			role := fmt.Sprintf("s%d", k)
			var points [][2]float64
			for n, p := range s.points {
				if p.Problems > 0 {
					points = append(points, [2]float64{x.At(float64(n)), y.At(p.Mean)})
				}
			}
			if len(points) == 0 {
				continue
			}
			if k == 0 || k == len(all)-1 {
				for n, p := range s.points {
					if p.Interval.Known {
						d.Line(x.At(float64(n)), y.At(p.Interval.Low), x.At(float64(n)), y.At(p.Interval.High), "pale wide k"+role, "")
					}
				}
			}
			d.Polyline(points, "wide k"+role+dashOf(k), s.name)
			for n, p := range s.points {
				if p.Problems > 0 {
					d.Dot(x.At(float64(n)), y.At(p.Mean), 3.5, "f"+role, fmt.Sprintf("%s, checkpoint %d: %s (%s) of %d problems", s.name, n+1, percent(p.Mean), intervalText(p.Interval, percent), p.Problems))
				}
			}
			ends[k] = points[len(points)-1][1]
		}
		labelEnds(d, right, ends, names, width, bottom)
		return d
	}
	return f, true
}

func percentTick(v float64) string { return strconv.Itoa(int(math.Round(100*v))) + " %" }

// dashOf tells series apart that have similar colors.
func dashOf(series int) string { return [...]string{"", "", " dash", " dots"}[series/2%4] }

// leftAxis draws ticks at the left of a plot, and lines of the grid.
func leftAxis(d *draw.Drawing, s draw.Scale, left, right float64, tick func(float64) string) {
	for _, v := range s.Ticks(max(2, int(math.Abs(s.End-s.Start)/40))) {
		d.Line(left, s.At(v), right, s.At(v), "kgrid thin", "")
		d.Text(left-6, s.At(v), "end", "fdim small", tick(v))
	}
}

// labelEnds writes names at the ends of lines, one below the other.
func labelEnds(d *draw.Drawing, x float64, ends []float64, names []string, width, bottom float64) {
	const apart = 14
	order := make([]int, len(ends))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
	at := make([]float64, len(ends))
	last := -apart + 6.0
	for _, i := range order {
		at[i] = max(ends[i], last+apart)
		last = at[i]
	}
	for n, limit := len(order)-1, bottom; n >= 0; n-- { // pushed back up from the bottom
		at[order[n]] = min(at[order[n]], limit)
		limit = at[order[n]] - apart
	}
	for i := range ends {
		d.Line(x-8, ends[i], x+4, at[i], fmt.Sprintf("thin pale ks%d", i%draw.Series), "")
		d.Text(x+8, at[i], "", fmt.Sprintf("fs%d", i%draw.Series), draw.Fit(names[i], width-x-10))
	}
}

// mostBoxes is how many problems are drawn; the data has all.
const mostBoxes = 40

// SpreadFigure draws what attempts reached at each problem.
func SpreadFigure(r *Results, m *Matrix) draw.Figure {
	f := draw.Figure{Name: "spread", Title: "What attempts reached, by problem",
		Note:    "A dot is an attempt: the share of its checkpoints that passed, or of 100 points. Boxes are quartiles with the median, lines go to the ends. Problems are from easy to hard.",
		Columns: []string{"problem", "attempts", "min", "quartile_1", "median", "quartile_3", "max"}}
	type dot struct {
		value float64
		cell  *Cell
	}
	attempts := map[string][]dot{}
	for i := range r.Cells {
		if v, ok := CellShare(&r.Cells[i]); ok {
			attempts[r.Cells[i].Problem] = append(attempts[r.Cells[i].Problem], dot{v, &r.Cells[i]})
		}
	}
	spreads := map[string]statistics.Spread{}
	for _, problem := range m.Problems {
		var values []float64
		for _, a := range attempts[problem] {
			values = append(values, a.value)
		}
		s := statistics.SpreadOf(values)
		spreads[problem] = s
		row := []string{problem, strconv.Itoa(len(values)), full(s.Min), full(s.Low), full(s.Median), full(s.High), full(s.Max)}
		if len(values) == 0 {
			row = []string{problem, "0", "", "", "", "", ""}
		}
		f.Rows = append(f.Rows, row)
	}
	problems := m.Problems
	if len(problems) > mostBoxes { // as many of each difficulty
		problems = make([]string, mostBoxes)
		for i := range problems {
			problems[i] = m.Problems[i*(len(m.Problems)-1)/(mostBoxes-1)]
		}
	}
	f.Note += leftOut(len(m.Problems)-len(problems), "problem")
	f.Plot = func(width float64) *draw.Drawing {
		const high = 24
		left, right := nameWidth(problems, 0.32*width), width-20
		bottom := high * float64(len(problems))
		s := draw.Scale{From: 0, To: 1, Start: left + 8, End: right}
		d := &draw.Drawing{Width: width, Height: bottom + 22}
		bottomAxis(d, s, 0, bottom, percentTick)
		for i, problem := range problems {
			y := high * (float64(i) + 0.5)
			d.Text(left-8, y, "end", "ftext", draw.Fit(problem, left-16))
			if len(attempts[problem]) == 0 {
				d.Text(s.Start, y, "", "fdim small", "no verdict")
				continue
			}
			box := spreads[problem]
			title := fmt.Sprintf("%s: median %s, quartiles %s and %s, %d attempts", problem, percent(box.Median), percent(box.Low), percent(box.High), len(attempts[problem]))
			d.Line(s.At(box.Min), y, s.At(box.Max), y, "kdim thin", title)
			d.Rectangle(s.At(box.Low), y-7, max(1, s.At(box.High)-s.At(box.Low)), 14, "fs0 faint ks0", title)
			// Attempts with the same value are one dot, as large as they are many.
			count := map[float64]int{}
			for _, a := range attempts[problem] {
				count[math.Round(1000*a.value)/1000]++
			}
			for _, v := range slices.Sorted(maps.Keys(count)) {
				d.Dot(s.At(v), y, min(1.6+0.5*math.Sqrt(float64(count[v])), 5), "fs0", fmt.Sprintf("%s: %s with %s", problem, text.Count(count[v], "attempt"), percent(v)))
			}
			d.Line(s.At(box.Median), y-7, s.At(box.Median), y+7, "ktext wide", title)
		}
		return d
	}
	return f
}

// TradeoffFigures draw the mean of a metric against what attempts took: the time of their sessions, and each
// figure that tasks measured of all solutions. Solutions that no other beats in both are joined.
func TradeoffFigures(r *Results, metric string) []draw.Figure {
	ranked := Rank(r, "solution", metric)
	costs := map[string]map[string]map[string][]float64{} // by what, solution and problem
	put := func(what string, c *Cell, v float64) {
		if costs[what] == nil {
			costs[what] = map[string]map[string][]float64{}
		}
		if costs[what][c.Solution] == nil {
			costs[what][c.Solution] = map[string][]float64{}
		}
		costs[what][c.Solution][c.Problem] = append(costs[what][c.Solution][c.Problem], v)
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		s, seconds := c.Sample(), 0.0
		if !s.Judged() {
			continue
		}
		for k := range c.Checkpoints {
			seconds += c.Checkpoints[k].DurationMS / 1000
			for name, v := range c.Checkpoints[k].Figures {
				if statistics.Finite(v) && v > 0 {
					put(name, c, v)
				}
			}
		}
		if seconds > 0 {
			put("", c, seconds)
		}
	}
	var all []draw.Figure
	for _, what := range slices.Sorted(maps.Keys(costs)) {
		var points []tradeoff
		for _, one := range ranked.All {
			problems := costs[what][one.Name]
			if one.Problems == 0 || len(problems) == 0 {
				continue
			}
			var means []float64
			for _, problem := range slices.Sorted(maps.Keys(problems)) {
				means = append(means, statistics.Mean(problems[problem]))
			}
			points = append(points, tradeoff{Contender: one, cost: statistics.Mean(means)})
		}
		if len(points) < 2 {
			continue
		}
		all = append(all, ranked.tradeoffFigure(what, points))
		if len(all) == 4 {
			break
		}
	}
	return all
}

// tradeoff is a solution in a plane of cost and score.
type tradeoff struct {
	Contender
	cost  float64
	front bool // no other is better in one and as good in the other
}

// markFront sets which points no other one beats.
func markFront(points []tradeoff) {
	for i := range points {
		p := &points[i]
		p.front = !slices.ContainsFunc(points, func(o tradeoff) bool {
			return o.Mean >= p.Mean && o.cost <= p.cost && (o.Mean > p.Mean || o.cost < p.cost)
		})
	}
}

func (c *Contenders) tradeoffFigure(what string, points []tradeoff) draw.Figure {
	axis, column, say := "mean time of an attempt's sessions", "seconds", text.Duration
	if what != "" {
		axis, column, say = "mean "+what, what, func(v float64) string { return text.Number(v, 3) }
	}
	f := draw.Figure{Name: figureName("tradeoff", cmp.Or(what, "time"), c.Metric), Title: metricTitles[c.Metric] + " and " + axis,
		Note:    "Both are means over problems. Upper left is better; the line joins the solutions that no other one beats in both.",
		Columns: []string{"solution", column, "mean", "low", "high", "front"}}
	markFront(points)
	var values []float64
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high := "", ""
		if p.Interval.Known {
			low, high = full(p.Interval.Low), full(p.Interval.High)
		}
		f.Rows = append(f.Rows, []string{p.Name, full(p.cost), full(p.Mean), low, high, strconv.FormatBool(p.front)})
		values, least, most = append(values, p.Mean), min(least, p.cost), max(most, p.cost)
	}
	f.Plot = func(width float64) *draw.Drawing {
		const top, bottom, left = 12, 300, 48
		d := &draw.Drawing{Width: width, Height: bottom + 34}
		x := draw.Scale{From: least / 1.15, To: most * 1.15, Start: left, End: width - 16, Log: true}
		y := c.scaleOf(values, bottom, top)
		leftAxis(d, y, left, x.End, c.tick)
		for _, v := range x.Ticks(max(3, int(width/110))) {
			d.Line(x.At(v), top, x.At(v), bottom, "kgrid thin", "")
			d.Text(x.At(v), bottom+12, "middle", "fdim small", say(v))
		}
		d.Text((left+x.End)/2, bottom+27, "middle", "fdim small", axis)
		front := slices.DeleteFunc(slices.Clone(points), func(p tradeoff) bool { return !p.front })
		slices.SortFunc(front, func(a, b tradeoff) int { return cmp.Compare(a.cost, b.cost) })
		var line [][2]float64
		for _, p := range front {
			line = append(line, [2]float64{x.At(p.cost), y.At(p.Mean)})
		}
		d.Polyline(line, "ks0 thin dash", "")
		figure := c.figures()
		var taken [][2]float64
		for _, p := range points {
			px, py := x.At(p.cost), y.At(p.Mean)
			title := fmt.Sprintf("%s: %s (%s) at %s", p.Name, figure(p.Mean), intervalText(p.Interval, figure), say(p.cost))
			if p.Interval.Known {
				d.Line(px, y.At(p.Interval.Low), px, y.At(p.Interval.High), "ks0 thin pale", title)
			}
			dot, label := "fback ks0 wide", "fdim small"
			if p.front {
				dot, label = "fs0 ks0 wide", "ftext small"
			}
			d.Dot(px, py, 4.5, dot, title)
			if name := draw.Fit(p.Name, 140); len(points) <= mostNamed || p.front {
				at := [2]float64{px + 9, py - 9}
				if at[0]+draw.TextWidth(name) > width {
					at[0] = px - 9 - draw.TextWidth(name)
				}
				for _, t := range taken { // a name is not written over another one
					if math.Abs(t[1]-at[1]) < 11 && math.Abs(t[0]-at[0]) < draw.TextWidth(name) {
						at[1] = t[1] + 12
					}
				}
				if at[1] > bottom-6 {
					continue
				}
				taken = append(taken, at)
				d.Text(at[0], at[1], "", label, name)
			}
		}
		return d
	}
	return f
}

// mostNamed is how many points all have their names next to them.
const mostNamed = 24

// HistoryPoint is a run of a history.
type HistoryPoint struct {
	Name    string
	Results *Results
	Step    *Difference // from the point before; nil for the first, or if it is not known
}

// HistoryFigure draws a metric over runs, with what each step came from. It is false unless two runs have the
// metric.
func HistoryFigure(runs []HistoryPoint, metric string) (f draw.Figure, ok bool) {
	c := &Contenders{By: "run", Metric: metric}
	f = draw.Figure{Name: figureName("history", metric), Title: metricTitles[metric] + " over runs",
		Note:    "The line is the mean over problems with its 95 % interval; thin lines are the solutions.",
		Columns: []string{"run", "mean", "low", "high", "problems", "won", "lost", "changed", "causes"}}
	lines := map[string][]float64{}
	for i, run := range runs {
		one := wholeOf(run.Results, metric)
		one.Name = run.Name
		c.All = append(c.All, one)
		low, high := "", ""
		if one.Interval.Known {
			low, high = full(one.Interval.Low), full(one.Interval.High)
		}
		row := []string{run.Name, full(one.Mean), low, high, strconv.Itoa(one.Problems), "", "", "", ""}
		if d := run.Step; d != nil {
			row[5], row[6], row[7], row[8] = strconv.Itoa(d.Count(ChangeWon)), strconv.Itoa(d.Count(ChangeLost)), strconv.Itoa(d.Count(ChangeChanged)), stepCauses(d)
		}
		f.Rows = append(f.Rows, row)
		for name, mean := range solutionMeans(run.Results, metric) {
			for len(lines[name]) < i {
				lines[name] = append(lines[name], math.NaN())
			}
			lines[name] = append(lines[name], mean)
		}
	}
	judged := 0
	for _, one := range c.All {
		if one.Problems > 0 {
			judged++
		}
	}
	if judged < 2 {
		return f, false
	}
	f.Plot = func(width float64) *draw.Drawing { return c.drawHistory(width, runs, lines) }
	return f, true
}

// wholeOf returns the mean of a metric over the problems of results.
func wholeOf(r *Results, metric string) Contender {
	m := metricOf(metric, r)
	units := map[unit]*statistics.Attempts{}
	for i := range r.Cells {
		s := r.Cells[i].Sample()
		if !m.means(&s) {
			continue
		}
		u := unit{r.Cells[i].Problem, r.Cells[i].Backend + "\x00" + r.Cells[i].Solution}
		if units[u] == nil {
			units[u] = &statistics.Attempts{}
		}
		if v, ok := m.value(&s); ok {
			units[u].Values = append(units[u].Values, v)
		} else {
			units[u].Missing++
		}
	}
	return contender("", units, m.scale)
}

// solutionMeans returns the means of a metric over the problems of each solution, without their intervals.
func solutionMeans(r *Results, metric string) map[string]float64 {
	c := &Contenders{By: "solution", Metric: metric}
	m, means := metricOf(metric, r), map[string]float64{}
	for name, units := range c.attempts(r, m) {
		means[name], _ = problemMean(units)
	}
	return means
}

// stepCauses returns the causes of a step, such as "12 asset:x changed; 3 tests/a.py changed", the most frequent first.
func stepCauses(d *Difference) string {
	var all []string
	for _, cause := range d.Causes() {
		n := 0
		for _, k := range cause.Kinds {
			n += k
		}
		all = append(all, fmt.Sprintf("%d %s", n, cmp.Or(cause.Cause, unknownCause)))
	}
	return strings.Join(all, "; ")
}

func (c *Contenders) drawHistory(width float64, runs []HistoryPoint, lines map[string][]float64) *draw.Drawing {
	const top, bottom, left = 24, 250, 48
	right := width - 24.0
	var values []float64
	for _, one := range c.All {
		values = append(values, one.Mean, one.Interval.Low, one.Interval.High)
	}
	for _, line := range lines {
		values = append(values, line...)
	}
	d := &draw.Drawing{Width: width}
	x := draw.Scale{From: 0, To: float64(max(1, len(runs)-1)), Start: left + 30, End: right - 30}
	y := c.scaleOf(values, bottom, top)
	leftAxis(d, y, left, right, c.tick)
	for n, name := range slices.SortedFunc(maps.Keys(lines), natural.Compare) {
		if n >= mostBars {
			break
		}
		var points [][2]float64
		for i, v := range lines[name] {
			if statistics.Finite(v) {
				points = append(points, [2]float64{x.At(float64(i)), y.At(v)})
			}
		}
		d.Polyline(points, "kdim thin pale", name)
	}
	figure := c.figures()
	var line [][2]float64
	below := bottom + 36.0
	every := max(1, (len(runs)*96)/int(right-left))
	for i, one := range c.All {
		px := x.At(float64(i))
		if (len(c.All)-1-i)%every == 0 {
			d.Text(px, bottom+13, "middle", "fdim small", shortRun(one.Name))
		}
		if one.Problems == 0 {
			continue
		}
		title := fmt.Sprintf("%s: %s (%s) of %d problems", one.Name, figure(one.Mean), intervalText(one.Interval, figure), one.Problems)
		if one.Interval.Known {
			d.Line(px, y.At(one.Interval.Low), px, y.At(one.Interval.High), "ks0 thick", title)
		}
		d.Dot(px, y.At(one.Mean), 4.5, "fs0", title)
		line = append(line, [2]float64{px, y.At(one.Mean)})
		d.Text(px, y.At(one.Mean)-13, "middle", "ftext small", figure(one.Mean))
	}
	d.Polyline(line, "ks0 wide", "")
	for i := range runs {
		step := runs[i].Step
		if i == 0 || step == nil {
			continue
		}
		px := (x.At(float64(i-1)) + x.At(float64(i))) / 2
		said := strings.TrimSuffix(step.Summary()+": "+stepCauses(step), ": ")
		d.Line(px, top-6, px, bottom, "kodd thin dots", said)
		d.Dot(px, top-12, 8, "fback kodd", said)
		d.Text(px, top-12, "middle", "ftext small", strconv.Itoa(i))
		d.Text(left-6, below, "end", "fodd strong small", strconv.Itoa(i))
		for n, folded := range text.Fold(text.Line(said, 0), int((width-left-8)/6)) {
			if n == 3 {
				break
			}
			d.Text(left, below, "", "ftext small", folded)
			below += 15
		}
		below += 4
	}
	d.Height = below
	return d
}

// shortRun is the day and time of a run's id, or the beginning of another name.
func shortRun(name string) string {
	if len(name) >= 15 && strings.Trim(name[:8]+name[9:15], "0123456789") == "" && name[8] == '-' {
		return name[4:6] + "-" + name[6:8] + " " + name[9:11] + ":" + name[11:13]
	}
	return text.Line(name, 12)
}

// DurationsFigure draws how long work of each kind took, in seconds.
func DurationsFigure(kinds map[string][]float64) (f draw.Figure, ok bool) {
	f = draw.Figure{Name: "durations", Title: "Durations of what ran, by kind",
		Note:    "Boxes are quartiles with the median, lines go to the ends. At the right: how often, and the time of all together.",
		Columns: []string{"kind", "count", "sum", "min", "quartile_1", "median", "quartile_3", "max"}}
	type row struct {
		kind  string
		n     int
		total float64
		statistics.Spread
	}
	var rows []row
	least, most := math.Inf(1), 0.0
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		values := slices.DeleteFunc(slices.Clone(kinds[kind]), func(v float64) bool { return !(v > 0) })
		if len(values) == 0 {
			continue
		}
		r := row{kind, len(values), 0, statistics.SpreadOf(values)}
		for _, v := range values {
			r.total += v
		}
		rows = append(rows, r)
		least, most = min(least, r.Min), max(most, r.Max)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.total, a.total) })
	var names []string
	for _, r := range rows {
		names = append(names, r.kind)
		f.Rows = append(f.Rows, []string{r.kind, strconv.Itoa(r.n), full(r.total), full(r.Min), full(r.Low), full(r.Median), full(r.High), full(r.Max)})
	}
	f.Plot = func(width float64) *draw.Drawing {
		const high = 26
		left, right := nameWidth(names, 0.3*width), width-110
		bottom := high * float64(len(rows))
		s := draw.Scale{From: max(least, most/1e6), To: most, Start: left + 8, End: right, Log: true}
		d := &draw.Drawing{Width: width, Height: bottom + 22}
		bottomAxis(d, s, 0, bottom, text.Duration)
		for i, r := range rows {
			y := high * (float64(i) + 0.5)
			title := fmt.Sprintf("%s: median %s, quartiles %s and %s, from %s to %s", r.kind, text.Duration(r.Median), text.Duration(r.Low), text.Duration(r.High), text.Duration(r.Min), text.Duration(r.Max))
			at := func(v float64) float64 { return s.At(max(v, s.From)) }
			d.Text(left-8, y, "end", "ftext", draw.Fit(r.kind, left-16))
			d.Line(at(r.Min), y, at(r.Max), y, "kdim thin", title)
			d.Rectangle(at(r.Low), y-7, max(1, at(r.High)-at(r.Low)), 14, "fs0 faint ks0", title)
			d.Line(at(r.Median), y-7, at(r.Median), y+7, "ktext wide", title)
			d.Text(width-58, y, "end", "fdim small", text.Thousands(r.n)+"×")
			d.Text(width-6, y, "end", "ftext small", text.Duration(r.total))
		}
		return d
	}
	return f, len(rows) > 0
}
