// Package columns reads results of CSV whose columns have names: one for the problem, and one for each metric.
package columns

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Benchmark returns the reader of CSV.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "csv", Logs: []plan.LogFormat{{Name: "csv", Title: "CSV with named columns", Holds: holds, Read: read}}}
}

const (
	mostRows    = 1_000_000
	mostColumns = 1_000
	mostRow     = 1 << 20 // bytes
)

// The names of columns that are no metrics, in lower case. The first that a file has is it, but for contenderNames.
var (
	problemNames   = []string{"problem", "task", "instance_id", "sample_id", "id"}
	contenderNames = []string{"solution", "agent", "model", "system"}
	repeatNames    = []string{"repeat", "epoch", "attempt", "trial"}
	errorNames     = []string{"error", "exception"}
)

// metricNames are columns by which a file is recognized. With --as any other column of numbers is a metric, too.
var metricNames = []string{"score", "passed", "resolved", "correct", "solved", "reward", "accuracy"}

// In columns of verdictNames, errorWords are attempts that did not pass.
var (
	verdictNames = []string{"passed", "resolved", "correct", "solved"}
	errorWords   = []string{"error", "errored", "timeout", "timed out", "crash", "crashed"}
)

func holds(head []byte) bool {
	if report.IsResults(head) { // whose rows are tests
		return false
	}
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("\n"))
	names, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil {
		return false
	}
	has := func(known []string) bool { return column(names, known) >= 0 }
	return has(problemNames) && has(metricNames)
}

// column returns the place of the first of some names in a header, -1 for none.
func column(header, names []string) int {
	for _, name := range names {
		for i, h := range header {
			if strings.EqualFold(strings.TrimSpace(h), name) {
				return i
			}
		}
	}
	return -1
}

// reader holds the parts of a file that were read.
type reader struct {
	header                 []string
	problem, repeat, error int
	contender              []int // columns that name a contender together, such as agent and model
	logs                   []*plan.Log
	of                     map[string]*plan.Log // by the values of contender
	first                  []string             // of each log, its value of the first of these columns
	size                   plan.LogSize
	repeats                map[[2]string]int
	known                  map[string]bool // attempts that name their number
	texts                  []int           // values that are no numbers, by column
	numbers                []int           // values that are numbers, by column
	errors                 int             // rows with an error and without a number
}

func read(file *os.File) ([]*plan.Log, error) {
	in := &capped.Reader{In: file, Most: mostRow, What: "a row"}
	c := csv.NewReader(in)
	c.ReuseRecord = true
	r := &reader{of: map[string]*plan.Log{}, repeats: map[[2]string]int{}, known: map[string]bool{}}
	row, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	}
	if err == nil {
		err = r.begin(row)
	}
	for n := 0; err == nil; n++ {
		in.Next()
		if row, err = c.Read(); err == nil {
			line, _ := c.FieldPos(0)
			if n == mostRows {
				err = fmt.Errorf("more than %d rows", mostRows)
			} else if err = r.row(row); err != nil {
				err = fmt.Errorf("line %d: %w", line, err)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return r.finish()
}

// begin reads the header.
func (r *reader) begin(header []string) error {
	r.header = slices.Clone(header)
	r.header[0] = strings.TrimPrefix(r.header[0], "\xef\xbb\xbf")
	seen := map[string]bool{}
	for i, name := range r.header {
		r.header[i] = strings.TrimSpace(name)
		if seen[r.header[i]] {
			return fmt.Errorf("the header has a duplicate column %s", text.Line(strconv.Quote(name), 80))
		}
		seen[r.header[i]] = true
	}
	r.problem, r.repeat, r.error = column(r.header, problemNames), column(r.header, repeatNames), column(r.header, errorNames)
	for _, name := range contenderNames {
		if at := column(r.header, []string{name}); at >= 0 {
			r.contender = append(r.contender, at)
		}
	}
	switch {
	case len(header) > mostColumns:
		return fmt.Errorf("the header has more than %d columns", mostColumns)
	case r.problem < 0:
		return fmt.Errorf("the header has no column for problems: %s", strings.Join(problemNames, ", "))
	}
	r.texts, r.numbers = make([]int, len(header)), make([]int, len(header))
	return nil
}

func (r *reader) row(row []string) error {
	var names []string
	for _, at := range r.contender {
		if row[at] == "" {
			return fmt.Errorf("%s is empty", r.header[at])
		}
		names = append(names, strings.Clone(row[at]))
	}
	if err := r.size.Names(names...); err != nil {
		return err
	}
	name := strings.Join(names, "\x00")
	l := r.of[name]
	if l == nil {
		l = &plan.Log{Name: strings.Join(names, " "), Labels: map[string]string{}}
		for i, at := range r.contender {
			if label := strings.ToLower(r.header[at]); label != "solution" {
				l.Labels[label] = names[i]
			}
		}
		r.of[name] = l
		r.logs, r.first = append(r.logs, l), append(r.first, append(names, "")[0])
	}
	a := plan.LogAttempt{Problem: strings.Clone(row[r.problem]), Class: verdict.Judged, Values: map[string]float64{}}
	if a.Problem == "" {
		return fmt.Errorf("%s is empty", r.header[r.problem])
	}
	if err := r.number(&a, name, row); err != nil {
		return err
	}
	for i, field := range row {
		if i == r.problem || slices.Contains(r.contender, i) || i == r.repeat || i == r.error || strings.TrimSpace(field) == "" {
			continue
		}
		v, ok := number(field)
		if !ok && slices.Contains(errorWords, strings.ToLower(strings.TrimSpace(field))) && slices.Contains(verdictNames, strings.ToLower(r.header[i])) {
			v, ok = 0, true
		}
		if ok {
			a.Values[r.header[i]] = v
			r.numbers[i]++
		} else {
			r.texts[i]++
		}
	}
	if r.error >= 0 && strings.TrimSpace(row[r.error]) != "" {
		a.Message, a.Class = text.Line(row[r.error], 200), verdict.NoScore
		if len(a.Values) == 0 {
			r.errors++
		}
	}
	if err := r.size.Attempt(&a); err != nil {
		return err
	}
	l.Attempts = append(l.Attempts, a)
	return nil
}

// number sets the number of an attempt: what its row says, or one more than the attempts before.
func (r *reader) number(a *plan.LogAttempt, name string, row []string) error {
	if r.repeat < 0 {
		r.repeats[[2]string{name, a.Problem}]++
		a.Repeat = r.repeats[[2]string{name, a.Problem}]
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(row[r.repeat]))
	if err != nil || n < 0 || n > mostRows {
		return fmt.Errorf("%s is %s, not the number of an attempt", r.header[r.repeat], text.Line(strconv.Quote(row[r.repeat]), 80))
	}
	key := fmt.Sprintf("%q %q %d", name, a.Problem, n)
	if r.known[key] {
		return fmt.Errorf("%s %d of %s is duplicated", r.header[r.repeat], n, text.Line(a.Problem, 80))
	}
	r.known[key] = true
	r.repeats[[2]string{name, a.Problem}]++ // attempts can begin at 0, and lack some
	a.Repeat = r.repeats[[2]string{name, a.Problem}]
	return nil
}

// number returns the number of a field: true and false are 1 and 0.
func number(field string) (float64, bool) {
	field = strings.TrimSpace(field)
	switch strings.ToLower(field) {
	case "true", "yes", "passed", "pass":
		return 1, true
	case "false", "no", "failed", "fail":
		return 0, true
	}
	v, err := strconv.ParseFloat(field, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// finish returns the logs. A column with a majority of texts is not a metric.
func (r *reader) finish() ([]*plan.Log, error) {
	if len(r.logs) == 0 {
		return nil, errors.New("it has a header but no rows")
	}
	var metrics, notes []string
	dropped := map[string]bool{}
	for i, name := range r.header {
		switch {
		case r.numbers[i] == 0:
		case r.texts[i] > r.numbers[i]:
			dropped[name] = true
		default:
			metrics = append(metrics, name)
			if n := r.texts[i]; n > 0 {
				notes = append(notes, fmt.Sprintf("%s of %s without a number, which have no verdict", text.Count(n, "value"), text.Line(name, 60)))
			}
		}
	}
	if len(metrics) == 0 {
		return nil, errors.New("no column has numbers")
	}
	if r.errors > 0 {
		notes = append(notes, text.Count(r.errors, "row")+" with an error and without a number, counted as failed")
	}
	slices.SortStableFunc(metrics, func(a, b string) int { return rank(a) - rank(b) })
	if distinct := slices.Compact(slices.Sorted(slices.Values(r.first))); len(distinct) == len(r.logs) {
		for i, l := range r.logs { // the first column distinguishes them
			l.Name = r.first[i]
		}
	}
	for _, l := range r.logs {
		l.Metrics, l.Higher = metrics, map[string]bool{}
		for _, name := range metrics {
			if slices.Contains(verdictNames, strings.ToLower(name)) {
				l.Higher[name] = true
			}
		}
		for i := range l.Attempts {
			for name := range dropped {
				delete(l.Attempts[i].Values, name)
			}
		}
	}
	r.logs[0].Notes = notes
	return r.logs, nil
}

// rank puts columns that are surely metrics first.
func rank(name string) int {
	if at := slices.Index(metricNames, strings.ToLower(name)); at >= 0 {
		return at
	}
	return len(metricNames)
}
