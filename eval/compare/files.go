package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Logs contains the results in files of other programs. Each contender is a solution to its problems.
type Logs struct {
	Results *report.Results
	Metric  string   // metric for report.Compare that corresponds to the requested one
	Of      string   // description of the results
	Notes   []string // number of shared problems, and notes from each file
	// Direction names the values that count as better, unless the files say so and these are the higher ones.
	Direction string

	files *logReader
	scale scale
}

// Remarks returns Notes and Direction, for results that are ranked.
func (l *Logs) Remarks() []string {
	if l.Direction == "" {
		return l.Notes
	}
	return append(slices.Clone(l.Notes), l.Direction)
}

// LogFormats returns the names of the formats of ReadLogs.
func LogFormats(o *options.Options) []string {
	var names []string
	for _, f := range plan.LogFormats(o.Benchmarks) {
		names = append(names, f.Name)
	}
	return names
}

// ReadLogs reads files of other programs, and directories of such files. as is the name of their format; ""
// detects it for each file. metric is a metric that all files contain; "" selects the first of these. If lower is set,
// its lower values are better.
func ReadLogs(o *options.Options, names []string, as, metric string, lower bool) (*Logs, error) {
	r := logReader{options: o, asFormat: as}
	for _, name := range names {
		if err := r.side(name); err != nil {
			return nil, exit.With(exit.Usage, err)
		}
	}
	r.name()
	metric, err := r.sharedMetric(metric)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	out := &Logs{Of: metric + " of " + text.Count(r.files, "file"), Notes: r.remarks(), files: &r}
	if lower, out.Direction, err = r.direction(metric, lower); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	out.scale = scaleOf(r.logs, metric, lower)
	out.Results, out.Metric = out.scale.results(r.logs), out.scale.kind.metric()
	if len(r.logs) > 1 {
		out.Notes = append([]string{r.matched()}, out.Notes...)
	}
	return out, nil
}

// Matches returns an error if no problem is in two logs, since nothing can be compared then.
func (l *Logs) Matches() error { return l.files.matches() }

// Difference returns the difference between two files or directories, or between two solutions in any of them.
// If each side has one contender, these are compared, under the name of the second. Otherwise, contenders with
// equal names are.
func (l *Logs) Difference(solutions, selectors []string) (*report.Difference, error) {
	logs := l.files.logs
	sides := [2][]*sideLog{logs[:l.files.begin], logs[l.files.begin:]}
	if len(solutions) > 0 {
		for i, name := range solutions {
			at := slices.IndexFunc(logs, func(one *sideLog) bool { return one.Name == name })
			if at < 0 {
				return nil, exit.Unmatched("no file has a solution %q", name)
			}
			sides[i] = logs[at : at+1]
		}
	} else if l.files.sides != 2 {
		return nil, exit.With(exit.Usage, errors.New("want two files or directories, or --solutions with two solutions in them"))
	}
	names := [2]string{sides[0][0].side, sides[1][0].side}
	if len(solutions) > 0 {
		names = [2]string(solutions)
	}
	if err := l.Matches(); err != nil {
		return nil, err
	}
	for _, one := range logs {
		one.Name = one.own
	}
	if len(sides[0]) == 1 && len(sides[1]) == 1 {
		sides[0][0].Name = sides[1][0].Name
	}
	results := [2]*report.Results{}
	for i := range sides {
		var err error
		if results[i], err = selection.Pick(l.scale.results(sides[i]), selectors); err != nil {
			return nil, err
		}
		results[i].Run = names[i]
	}
	d := report.Differ(results[0], results[1])
	d.Foreign = true
	if len(sides[0]) == 1 && len(sides[1]) == 1 {
		d.Differs = labelChanges(sides[0][0].Labels, sides[1][0].Labels)
	}
	return d, nil
}

// labelChanges lists the labels with different values, as "name: before -> after".
func labelChanges(before, after map[string]string) (changes []string) {
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if before[name] != after[name] {
			changes = append(changes, fmt.Sprintf("%s: %s -> %s", name, cmp.Or(before[name], "none"), cmp.Or(after[name], "none")))
		}
	}
	return changes
}

// sharedMetric returns the requested metric, or the first metric in all logs that have one.
func (r *logReader) sharedMetric(asked string) (string, error) {
	var shared []string
	for _, l := range r.logs {
		if len(l.Metrics) == 0 { // every attempt ended by an error, which hides no metric of the others
			continue
		}
		if shared == nil {
			shared = slices.Clone(l.Metrics)
		}
		shared = slices.DeleteFunc(shared, func(m string) bool { return !slices.Contains(l.Metrics, m) })
	}
	switch {
	case shared == nil:
		return "", errors.New("no file has a score: every attempt ended by an error")
	case len(shared) == 0:
		var each []string
		for _, l := range r.logs[:min(len(r.logs), mostNamed)] {
			each = append(each, l.side+" has "+text.Line(cmp.Or(text.Some(l.Metrics, 8), "none"), 200))
		}
		return "", fmt.Errorf("no metric is in all files: %s", strings.Join(each, "; "))
	case asked == "":
		return shared[0], nil
	case !slices.Contains(shared, asked):
		return "", text.Unknown("metric", asked, shared)
	}
	return asked, nil
}

// shares counts the logs that have each problem.
func (r *logReader) shares() map[string]int {
	in := map[string]int{}
	for _, l := range r.logs {
		for problem := range l.repeats {
			in[problem]++
		}
	}
	return in
}

// matches returns an error if no problem is in two logs: nothing could be compared.
func (r *logReader) matches() error {
	for _, n := range r.shares() {
		if n > 1 {
			return nil
		}
	}
	if len(r.logs) < 2 {
		return exit.Unmatched("%s has results of only one contender, %s, so nothing can be compared", r.logs[0].side, text.Line(r.logs[0].Name, 80))
	}
	var each []string
	for _, l := range r.logs[:min(len(r.logs), mostNamed)] {
		each = append(each, l.side+" has "+text.Line(text.Some(slices.Sorted(maps.Keys(l.repeats)), 3), 200))
	}
	return exit.Unmatched("no two files have a problem in common: %s", strings.Join(each, "; "))
}

// matched describes how many problems all logs share, and which are left out of pairs.
func (r *logReader) matched() string {
	in := r.shares()
	var left []string
	for problem, n := range in {
		if n < len(r.logs) {
			left = append(left, problem)
		}
	}
	slices.Sort(left)
	where := "are in all files"
	if r.files != len(r.logs) {
		where = "were attempted by all"
	}
	line := fmt.Sprintf("%d of %s %s", len(in)-len(left), text.Count(len(in), "problem"), where)
	if len(left) > 0 {
		line += "; the others are " + text.Some(left, 4)
	}
	for _, l := range r.logs {
		own := slices.Sorted(maps.Keys(l.repeats))
		if !slices.ContainsFunc(own, func(problem string) bool { return in[problem] > 1 }) {
			line += fmt.Sprintf("; %s shares no problem with the others, and has %s", l.side, text.Line(text.Some(own, 3), 200))
		}
	}
	return line
}

// direction reports whether lower values of a metric are better: as requested, or according to the files.
func (r *logReader) direction(metric string, lower bool) (lowerBest bool, note string, err error) {
	sides := map[bool]*sideLog{}
	for _, l := range r.logs {
		if higher, known := l.Higher[metric]; known {
			sides[higher] = cmp.Or(sides[higher], l)
		}
	}
	name := text.Line(metric, 60)
	switch {
	case sides[true] != nil && sides[false] != nil:
		return false, "", fmt.Errorf("higher values of %s are better in %s, and lower ones in %s", name, sides[true].side, sides[false].side)
	case lower && sides[true] != nil:
		return false, "", fmt.Errorf("--lower does not fit: in %s, higher values of %s are better", sides[true].side, name)
	case sides[false] != nil:
		return true, "lower values of " + name + " are better, according to the files", nil
	case lower:
		return true, "lower values of " + name + " are better", nil
	case sides[true] != nil:
		return false, "", nil
	}
	return false, "higher values of " + name + " are assumed to be better; --lower is the opposite", nil
}

// kind is the range of a metric's values.
type kind int

const (
	binary kind = iota // each is 0 or 1
	share              // each is from 0 to 1
	free
)

// scale describes how the values of a metric become cells.
type scale struct {
	kind kind
	of   report.Metric
}

func scaleOf(logs []*sideLog, metric string, lower bool) scale {
	s := scale{kindOf(logs, metric), report.Metric{Name: metric, LowerBest: lower}}
	if lower && s.kind == binary { // 1 is not solved
		s.kind = share
	}
	s.of.Bounded = s.kind != free
	return s
}

func kindOf(logs []*sideLog, metric string) kind {
	k := binary
	for _, l := range logs {
		for i := range l.Attempts {
			switch v, ok := l.Attempts[i].Values[metric]; {
			case !ok:
			case v < 0 || v > 1:
				return free
			case v != 0 && v != 1:
				k = share
			}
		}
	}
	return k
}

// metric returns the metric for comparisons of cells.
func (k kind) metric() string { return [...]string{"solved", "score", "unbounded"}[k] }

// results returns the attempts of logs as cells.
func (s scale) results(logs []*sideLog) *report.Results {
	out := &report.Results{Schema: report.Schema}
	of := s.of
	for _, l := range logs {
		for i := range l.Attempts {
			cell := s.cell(l.Log, &l.Attempts[i])
			cell.Metric = &of
			out.Cells = append(out.Cells, cell)
		}
	}
	return out
}

// cell returns an attempt as a cell. An attempt without a value has no verdict, unless it is lost.
func (s scale) cell(l *plan.Log, a *plan.LogAttempt) report.Cell {
	metric := s.of.Name
	value, ok := a.Values[metric]
	c := report.Checkpoint{Class: a.Class, Groups: verdict.NoTestCounts(), Tests: []report.Test{}}
	message := a.Message
	switch {
	case ok:
		c.Class = verdict.Judged
	case a.Class == verdict.Judged:
		c.Class, message = verdict.NotJudged, cmp.Or(message, "no number for "+metric)
	}
	if message != "" {
		c.Message = &message
	}
	cell := report.Cell{Problem: a.Problem, Cluster: a.Cluster, Solution: l.Name, Backend: report.ImportedBackend, Repeat: a.Repeat, Labels: l.Labels, Status: c.Class.Status()}
	switch {
	case s.kind == binary:
		c.Name, c.Passed = metric, ok && value == 1
		if c.Name == string(verdict.OutcomePassed) { // next to the verdict "failed" it would deny it
			c.Name = "test"
		}
		if ok && value == 0 && c.Message == nil { // without a pass rule to name
			message := metric + " is 0"
			c.Message = &message
		}
	case s.kind == share:
		c.Policy = string(verdict.NoRule)
		if ok {
			value *= 100
			c.Score = &value
		}
	default:
		c.Policy = string(verdict.NoRule)
		if ok {
			c.ScoreUnbounded = &value
		}
	}
	cell.Score, cell.ScoreUnbounded = c.Score, c.ScoreUnbounded
	cell.Checkpoints = []report.Checkpoint{c}
	return cell
}
