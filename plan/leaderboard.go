package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// Leaderboard is a result block evaluated over the results of a run.
type Leaderboard struct {
	Name   string
	Header []string
	Rows   [][]string
}

// Leaderboards evaluates every result block whose suite has results.
func (p *Plan) Leaderboards(results *report.Results) ([]Leaderboard, error) {
	var boards []Leaderboard
	for _, r := range p.Config.Results {
		cells := results.Suite(r.From.Name).Cells
		if len(cells) == 0 {
			continue
		}
		b, err := leaderboard(r, cells)
		if err != nil {
			return nil, fmt.Errorf("result %q: %w", r.Name, err)
		}
		boards = append(boards, b)
	}
	return boards, nil
}

// boardRow is one group of cells with its evaluated metrics.
type boardRow struct {
	group     []string
	metrics   []cty.Value
	intervals []interval // of metrics with one

	cells, judged int // number in the group
}

func countJudged(samples []verdict.Sample) (n int) {
	for i := range samples {
		if samples[i].Judged() {
			n++
		}
	}
	return n
}

// verdictNames are the names in self whose values depend on verdicts.
var verdictNames = []string{"total", "core", "functionality", "regression", "error", "checkpoints", "solved",
	"score", "score_unbounded", "scored_mean", "scored_mean_unbounded", "bounded", "unbounded"}

// withoutVerdicts returns self for cells without verdicts: metrics of verdicts are unknown, not the 0 of a
// solution that failed.
func withoutVerdicts(self cty.Value) cty.Value {
	attrs := self.AsValueMap()
	for _, name := range verdictNames {
		attrs[name] = cty.DynamicVal
	}
	return cty.ObjectVal(attrs)
}

func leaderboard(r *lang.Result, all []report.Cell) (Leaderboard, error) {
	b := Leaderboard{Name: r.Name, Header: slices.Clone(r.GroupBy)}
	missing := false
	for _, m := range r.Metrics {
		b.Header = append(b.Header, m.Name)
		if m.PassAt+m.BestOf > 0 {
			b.Header = append(b.Header, m.Name+intervalHeader)
		}
	}
	groups, order, err := groupCells(r, all)
	if err != nil {
		return b, err
	}
	var rows []boardRow
	cells, samples := make([][]report.Cell, len(order)), make([][]verdict.Sample, len(order))
	for i, key := range order {
		cells[i], samples[i] = groups[key], report.Samples(groups[key])
	}
	ratings := ratingsOf(r, samples)
	for i := range order {
		row := boardRow{group: axisValues(r.GroupBy, &cells[i][0])}
		row.cells, row.judged = len(samples[i]), countJudged(samples[i])
		missing = missing || row.judged < row.cells
		self := groupValue(cells[i])
		if row.judged == 0 {
			self = withoutVerdicts(self)
		}
		for _, m := range r.Metrics {
			v, within, err := metricValue(m, self, samples[i], ratings[i])
			if err != nil {
				return b, err
			}
			row.metrics, row.intervals = append(row.metrics, v), append(row.intervals, within)
		}
		rows = append(rows, row)
	}
	sortRows(rows, r)
	if missing {
		b.Header = append(b.Header, "judged")
	}
	for _, row := range rows {
		line := slices.Clone(row.group)
		for i, v := range row.metrics {
			m := r.Metrics[i]
			text := metricText(v, m.Format)
			if m.Format != "" && strings.Contains(text, "%!") { // fmt's marker for an error
				return b, fmt.Errorf("metric %q: the format %q does not fit its value: %s", m.Name, m.Format, text)
			}
			line = append(line, text)
			if m.PassAt+m.BestOf > 0 {
				line = append(line, row.intervals[i].text(m.Format))
			}
		}
		if missing {
			line = append(line, fmt.Sprintf("%d of %d", row.judged, row.cells))
		}
		b.Rows = append(b.Rows, line)
	}
	return b, nil
}

func groupCells(r *lang.Result, cells []report.Cell) (map[string][]report.Cell, []string, error) {
	groups := map[string][]report.Cell{}
	var order []string
	for i := range cells {
		if r.Where != nil {
			keep, diags := r.Where.Eval(groupValue(cells[i : i+1]))
			if diags.HasErrors() {
				return nil, nil, diags
			}
			if keep.IsNull() || keep.Type() != cty.Bool {
				return nil, nil, fmt.Errorf("where must be true or false, not %s", keep.Type().FriendlyName())
			}
			if keep.False() {
				continue
			}
		}
		key := strings.Join(axisValues(r.GroupBy, &cells[i]), "\x00")
		if _, seen := groups[key]; !seen {
			order = append(order, key)
		}
		groups[key] = append(groups[key], cells[i])
	}
	return groups, order, nil
}

// axisValues returns a cell's values on the axes of group_by: problem, solution, backend, or a solution's
// label.
func axisValues(axes []string, c *report.Cell) []string {
	values := make([]string, len(axes))
	for i, axis := range axes {
		values[i] = c.On(axis)
	}
	return values
}

// groupValue returns the value of a set of cells for metrics: self.core.passed and the like, summed over
// all checkpoints, self.checkpoints, self.cells, and self.score, the mean over all cells of problems that
// give scores; self.scored_mean, the mean over the cells that have a score; and self.bounded and
// self.unbounded, summaries of the same scores, the former clamped.
func groupValue(cells []report.Cell) cty.Value {
	sum := verdict.NoTestCounts()
	samples := report.Samples(cells)
	var checkpoints []cty.Value
	statuses := map[verdict.Status]int{}
	notFinite, solved := 0, 0
	for i := range cells {
		statuses[cells[i].Status]++
		if samples[i].NotFinite() {
			notFinite++
		}
		if samples[i].Solved() {
			solved++
		}
		for _, c := range gradedCheckpoints(&cells[i]) {
			sum.AddAll(c.Groups)
			checkpoints = append(checkpoints, checkpointValue(c.Verdict()))
		}
	}
	attrs := groupValues(sum)
	attrs["checkpoints"] = cty.TupleVal(checkpoints)
	attrs["cells"] = cty.NumberIntVal(int64(len(cells)))
	bounded, unbounded := verdict.ScoreSummary(samples), verdict.UnboundedSummary(samples)
	asGiven := verdict.SummarizeScores(samples, func(s *verdict.Score) (float64, bool) {
		if s.Bounded == nil {
			return 0, false
		}
		return *s.Bounded, true
	})
	attrs["scored"] = cty.NumberIntVal(int64(asGiven.Scored.N))
	attrs["score"], attrs["scored_mean"] = meanValue(asGiven.All), meanValue(asGiven.Scored)
	attrs["score_unbounded"], attrs["scored_mean_unbounded"] = meanValue(unbounded.All), meanValue(unbounded.Scored)
	attrs["bounded"], attrs["unbounded"] = summaryValue(bounded.All), summaryValue(unbounded.All)
	attrs["not_finite"], attrs["solved"] = cty.NumberIntVal(int64(notFinite)), cty.NumberIntVal(int64(solved))
	attrs["problem"] = cty.StringVal(cells[0].Problem)
	attrs["solution"] = cty.StringVal(cells[0].Solution)
	attrs["backend"] = cty.StringVal(cells[0].Backend)
	attrs["figures"] = figuresValue(cells)
	labels := map[string]cty.Value{}
	for name, value := range cells[0].Labels {
		labels[name] = cty.StringVal(value)
	}
	attrs["labels"] = cty.ObjectVal(labels)
	for _, s := range []verdict.Status{verdict.Success, verdict.Error, verdict.TimedOut, verdict.Skipped, verdict.Broken} {
		attrs["cells_"+string(s)] = cty.NumberIntVal(int64(statuses[s]))
	}
	return cty.ObjectVal(attrs)
}

// figuresValue returns the mean of each figure over the checkpoints that have it.
func figuresValue(cells []report.Cell) cty.Value {
	values := map[string][]float64{}
	for i := range cells {
		for _, c := range cells[i].Checkpoints {
			for name, value := range c.Figures {
				values[name] = append(values[name], value)
			}
		}
	}
	if len(values) == 0 {
		return cty.MapValEmpty(cty.Number)
	}
	means := map[string]cty.Value{}
	for name, all := range values {
		means[name] = meanValue(statistics.Summarize(all))
	}
	return cty.MapVal(means)
}

// gradedCheckpoints returns the checkpoints of a cell for metrics. A cell without any counts as not passed:
// over no checkpoints at all, alltrue would call it solved.
func gradedCheckpoints(c *report.Cell) []report.Checkpoint {
	if c.Status == verdict.Success || c.Status == verdict.Skipped {
		return c.Checkpoints
	}
	return c.Listed()
}

// sortRows orders rows by the columns of sort, "-" before a name for
// descending; ties keep the order of the results.
func sortRows(rows []boardRow, r *lang.Result) {
	header := slices.Clone(r.GroupBy)
	for _, m := range r.Metrics {
		header = append(header, m.Name)
	}
	slices.SortStableFunc(rows, func(a, b boardRow) int {
		for _, key := range r.Sort {
			name, descending := strings.CutPrefix(key, "-")
			i := slices.Index(header, name)
			if i < 0 {
				continue
			}
			c := 0
			if i < len(a.group) {
				c = strings.Compare(a.group[i], b.group[i])
			} else {
				c = compareValues(a.metrics[i-len(a.group)], b.metrics[i-len(b.group)])
			}
			if descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
}

// compareValues orders numbers, booleans and strings; null comes first.
func compareValues(a, b cty.Value) int {
	if an, ok := number(a); ok {
		if bn, ok := number(b); ok {
			return an.Cmp(bn)
		}
	}
	return strings.Compare(metricText(a, ""), metricText(b, ""))
}

func number(v cty.Value) (*big.Float, bool) {
	switch {
	case v.IsNull() || !v.IsKnown():
		return big.NewFloat(-1e300), true
	case v.Type() == cty.Number:
		return v.AsBigFloat(), true
	case v.Type() == cty.Bool && v.True():
		return big.NewFloat(1), true
	case v.Type() == cty.Bool:
		return new(big.Float), true
	}
	return nil, false
}

// metricText formats a value; format is a Go verb for floats, such as "%.1f", or "".
func metricText(v cty.Value, format string) string {
	if v.IsNull() || !v.IsKnown() {
		return "-"
	}
	if v.Type() == cty.Number {
		f, _ := v.AsBigFloat().Float64()
		switch {
		case format != "":
			return fmt.Sprintf(format, f)
		case v.AsBigFloat().IsInt():
			return v.AsBigFloat().Text('f', 0)
		}
		return new(big.Float).SetFloat64(f).Text('g', 4)
	}
	if s, err := convert.Convert(v, cty.String); err == nil && !s.IsNull() {
		return s.AsString()
	}
	return v.GoString()
}
