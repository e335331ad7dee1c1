package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Logs are files of other programs, side by side: each is a solution of the problems that it has.
type Logs struct {
	Results *report.Results
	Metric  string   // of report.Compare, that means what was asked for
	Of      string   // what is compared, in words
	Notes   []string // how many problems they share, and what each file says of itself
}

// LogFormats returns the names of the formats that ReadLogs knows.
func LogFormats(o *options.Options) []string {
	var names []string
	for _, f := range logFormats(o) {
		names = append(names, f.Name)
	}
	return names
}

func logFormats(o *options.Options) []plan.LogFormat {
	var all []plan.LogFormat
	for _, b := range o.Benchmarks {
		all = append(all, b.Logs...)
	}
	return all
}

// AreLogs reports whether all names are those of files that look like logs of other programs.
func AreLogs(o *options.Options, names []string) bool {
	for _, name := range names {
		file, err := openLog(o, name)
		if err != nil {
			return false
		}
		format := formatOf(o, file)
		file.Close()
		if format == nil {
			return false
		}
	}
	return len(names) > 0
}

// openLog opens a regular file: opening a pipe would wait for who writes it.
func openLog(o *options.Options, name string) (*os.File, error) {
	info, err := os.Stat(o.Path(name))
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("not a file")}
	}
	if err != nil {
		return nil, err
	}
	return os.Open(o.Path(name))
}

// formatOf returns the format that a file looks like, nil for none.
func formatOf(o *options.Options, file *os.File) *plan.LogFormat {
	head := make([]byte, plan.LogHead)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil
	}
	for _, f := range logFormats(o) {
		if f.Holds(head[:n]) {
			return &f
		}
	}
	return nil
}

// ReadLogs reads files of other programs. as is the name of their format; "" takes that which each
// looks like. metric is one that all have; "" is the first that all have.
func ReadLogs(o *options.Options, names []string, as, metric string) (*Logs, error) {
	logs := make([]*plan.Log, len(names))
	for i, name := range names {
		var err error
		if logs[i], err = readLog(o, name, as); err != nil {
			return nil, exit.With(exit.Usage, err)
		}
	}
	metric, err := sharedMetric(logs, names, metric)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	nameLogs(logs, names)
	out := &Logs{Of: metric + " of " + text.Count(len(names), "file"), Results: &report.Results{Schema: report.Schema}}
	scale := scaleOf(logs, metric)
	out.Metric = scale.metric()
	for _, l := range logs {
		for i := range l.Attempts {
			out.Results.Cells = append(out.Results.Cells, scale.cell(l, &l.Attempts[i], metric))
		}
	}
	out.Notes = append(out.Notes, matched(logs)...)
	for i, l := range logs {
		for _, note := range l.Notes {
			out.Notes = append(out.Notes, names[i]+": "+note)
		}
	}
	return out, nil
}

func readLog(o *options.Options, name, as string) (*plan.Log, error) {
	file, err := openLog(o, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	formats := logFormats(o)
	var format *plan.LogFormat
	if at := slices.IndexFunc(formats, func(f plan.LogFormat) bool { return f.Name == as }); at >= 0 {
		format = &formats[at]
	} else if as != "" {
		return nil, text.Unknown("format", as, LogFormats(o))
	} else if format = formatOf(o, file); format == nil {
		return nil, fmt.Errorf("%s: not a file of a known format; --as names one: %s", name, strings.Join(LogFormats(o), ", "))
	}
	log, err := format.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: not %s that can be read: %s", name, format.Title, text.Line(err.Error(), 300))
	}
	return log, nil
}

// sharedMetric returns the metric that was asked for, or the first one that all logs have.
func sharedMetric(logs []*plan.Log, names []string, asked string) (string, error) {
	shared := slices.Clone(logs[0].Metrics)
	for _, l := range logs[1:] {
		shared = slices.DeleteFunc(shared, func(m string) bool { return !slices.Contains(l.Metrics, m) })
	}
	switch {
	case len(shared) == 0:
		var each []string
		for i, l := range logs {
			each = append(each, names[i]+" has "+text.Line(cmp.Or(text.Some(l.Metrics, 8), "none"), 200))
		}
		return "", fmt.Errorf("no metric is in all files: %s", strings.Join(each, "; "))
	case asked == "":
		return shared[0], nil
	case !slices.Contains(shared, asked):
		return "", text.Unknown("metric", asked, shared)
	}
	return asked, nil
}

// nameLogs makes names of logs unique: where two are of one contender, each is called as its file
// or, where these names are not unique either, by its path.
func nameLogs(logs []*plan.Log, names []string) {
	unique := func() bool {
		seen := map[string]bool{}
		for _, l := range logs {
			seen[l.Name] = true
		}
		return len(seen) == len(logs)
	}
	for _, name := range []func(string) string{filepath.Base, func(path string) string { return path }} {
		if unique() {
			return
		}
		for i, l := range logs {
			l.Name = name(names[i])
		}
	}
}

// matched says how many problems all logs have, and which are left out of pairs.
func matched(logs []*plan.Log) []string {
	in := map[string]int{}
	for _, l := range logs {
		has := map[string]bool{}
		for i := range l.Attempts {
			has[l.Attempts[i].Problem] = true
		}
		for problem := range has {
			in[problem]++
		}
	}
	var left []string
	for problem, n := range in {
		if n < len(logs) {
			left = append(left, problem)
		}
	}
	slices.Sort(left)
	line := fmt.Sprintf("%d of %s are in all files", len(in)-len(left), text.Count(len(in), "problem"))
	if len(left) > 0 {
		line += "; the others are " + text.Some(left, 4)
	}
	return []string{line}
}

// scale is what values of a metric are.
type scale int

const (
	binary scale = iota // each is 0 or 1
	share               // each is from 0 to 1
	free
)

func scaleOf(logs []*plan.Log, metric string) scale {
	s := binary
	for _, l := range logs {
		for i := range l.Attempts {
			switch v, ok := l.Attempts[i].Values[metric]; {
			case !ok:
			case v < 0 || v > 1:
				return free
			case v != 0 && v != 1:
				s = share
			}
		}
	}
	return s
}

// metric returns what cells are compared by.
func (s scale) metric() string { return [...]string{"solved", "score", "unbounded"}[s] }

// cell returns an attempt as a cell. One without a value has no verdict, unless it is lost.
func (s scale) cell(l *plan.Log, a *plan.LogAttempt, metric string) report.Cell {
	value, ok := a.Values[metric]
	c := report.Checkpoint{Class: a.Class, Groups: verdict.NoTestCounts(), Tests: []report.Test{}}
	if !ok && a.Class == verdict.Judged {
		c.Class = verdict.NotJudged
	}
	if a.Message != "" {
		c.Message = &a.Message
	}
	cell := report.Cell{Problem: a.Problem, Solution: l.Name, Backend: report.ImportedBackend, Repeat: a.Repeat, Labels: l.Labels, Status: c.Class.Status()}
	switch {
	case s == binary:
		c.Name, c.Passed = metric, ok && value == 1
	case s == share:
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
