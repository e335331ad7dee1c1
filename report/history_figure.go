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
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// HistoryPoint holds the figures of a run in a history. It does not keep the results.
type HistoryPoint struct {
	Name  string
	Step  *Difference // difference from the previous point; nil for the first, or if unknown
	means map[string]historyMeans
}

// historyMeans holds the mean of a metric in a run, overall and for each solution.
type historyMeans struct {
	whole     Contender
	solutions map[string]float64
}

// NewHistoryPoint returns the point of a run.
func NewHistoryPoint(name string, r *Results, step *Difference) HistoryPoint {
	p := HistoryPoint{Name: name, Step: step, means: map[string]historyMeans{}}
	for _, metric := range Metrics {
		p.means[metric] = historyMeans{wholeOf(r, metric), solutionMeans(r, metric)}
	}
	return p
}

// HistoryFigure draws a metric over runs, with the causes of each step. It returns false unless two runs have
// the metric.
func HistoryFigure(runs []HistoryPoint, metric string) (f draw.Figure, ok bool) {
	c := &Contenders{By: "run", Metric: metric}
	f = draw.Figure{Name: figureName("history", metric), Title: metricTitles[metric] + " over runs",
		Note:    "The line is the mean over problems with its 95 % interval; thin lines are the solutions.",
		Columns: []string{"run", "mean", "low", "high", "problems", "won", "lost", "changed", "causes"}}
	lines := map[string][]float64{}
	for i, run := range runs {
		one := run.means[metric].whole
		one.Name = run.Name
		c.All = append(c.All, one)
		step := fields("", "", "", "")
		if d := run.Step; d != nil {
			step = fields(d.Count(ChangeWon), d.Count(ChangeLost), d.Count(ChangeChanged), stepCauses(d))
		}
		f.Rows = append(f.Rows, append(fields(run.Name, one.Mean, one.Interval, one.Problems), step...))
		for name, mean := range run.means[metric].solutions {
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
	units := attemptsByUnit{}
	for i := range r.Cells {
		s := r.Cells[i].Sample()
		if !m.means(&s) {
			continue
		}
		units.add(unit{r.Cells[i].Problem, r.Cells[i].Backend + "\x00" + r.Cells[i].Solution}, m, &s)
	}
	return contender("", units, m.scale, clusters{})
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

// stepCauses returns the causes of a step, the most frequent first, such as "12 asset:x changed; 3 tests/a.py
// changed".
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
	y := c.scaleOf(values)
	y.Start, y.End = bottom, top
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
		if i == 0 || step == nil || len(step.Changes) == 0 && len(runs) > mostSteps {
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

// mostSteps is the number of steps up to which all are marked. Beyond it, only those with changes are.
const mostSteps = 5

// shortRun returns day and time of a run id, or the beginning of another name.
func shortRun(name string) string {
	if len(name) >= 15 && strings.Trim(name[:8]+name[9:15], "0123456789") == "" && name[8] == '-' {
		return name[4:6] + "-" + name[6:8] + " " + name[9:11] + ":" + name[11:13]
	}
	return text.Line(name, 12)
}
