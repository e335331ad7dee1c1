package logs

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
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// columns reads CSV whose columns have names: one for the problem, and one for each metric.
var columns = format{
	name: "csv", title: "CSV with named columns", holds: hasColumns, read: readColumns,
	notes: []note{withoutNumber, {"error", "row", "with an error and without a number, counted as failed"}},
}

const (
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

func hasColumns(head []byte) bool {
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

type columnReader struct {
	*file
	header                 []string
	problem, repeat, error int
	contender              []int           // columns that name a contender together, such as agent and model
	labels                 []string        // names of these
	known                  map[string]bool // attempts that name their number
}

func readColumns(f *file, file *os.File) error {
	in := &capped.Reader{In: file, Most: mostRow, What: "a row"}
	c := csv.NewReader(in)
	c.ReuseRecord = true
	r := &columnReader{file: f, known: map[string]bool{}}
	row, err := c.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	if err == nil {
		err = r.begin(row)
	}
	for err == nil {
		in.Next()
		if row, err = c.Read(); err == nil {
			if err = r.row(row); err != nil {
				line, _ := c.FieldPos(0)
				err = fmt.Errorf("line %d: %w", line, err)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return r.finish()
}

// begin reads the header.
func (r *columnReader) begin(header []string) error {
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
			r.contender, r.labels = append(r.contender, at), append(r.labels, name)
		}
	}
	switch {
	case len(header) > mostColumns:
		return fmt.Errorf("the header has more than %d columns", mostColumns)
	case r.problem < 0:
		return fmt.Errorf("the header has no column for problems: %s", strings.Join(problemNames, ", "))
	}
	return nil
}

func (r *columnReader) row(row []string) error {
	var names []string
	for _, at := range r.contender {
		if row[at] == "" {
			return fmt.Errorf("%s is empty", r.header[at])
		}
		names = append(names, row[at])
	}
	l, err := r.log(r.labels, names)
	if err != nil {
		return err
	}
	e := entry{log: l, problem: strings.Clone(row[r.problem])} // not all of the row
	if e.problem == "" {
		return fmt.Errorf("%s is empty", r.header[r.problem])
	}
	if err := r.checkNumber(&e, row); err != nil {
		return err
	}
	judged := false
	for i, field := range row {
		if i == r.problem || slices.Contains(r.contender, i) || i == r.repeat || i == r.error || strings.TrimSpace(field) == "" {
			continue
		}
		v := fieldNumber(field)
		if math.IsNaN(v) && slices.Contains(errorWords, strings.ToLower(strings.TrimSpace(field))) && slices.Contains(verdictNames, strings.ToLower(r.header[i])) {
			v = 0
		}
		if math.IsNaN(v) {
			r.count(withoutNumber.of, r.header[i])
		}
		judged = judged || !math.IsNaN(v)
		e.values = append(e.values, value{r.header[i], v})
	}
	if r.error >= 0 && strings.TrimSpace(row[r.error]) != "" {
		e.message, e.class = text.Line(row[r.error], 200), verdict.NoScore
		if !judged {
			r.count("error", "")
		}
	}
	_, err = r.add(e)
	return err
}

// checkNumber returns an error if the number of an attempt is bad or a duplicate. Attempts are counted: numbers can begin at 0,
// and lack some.
func (r *columnReader) checkNumber(e *entry, row []string) error {
	if r.repeat < 0 {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(row[r.repeat]))
	if err != nil || n < 0 || n > mostAttempts {
		return fmt.Errorf("%s is %s, not the number of an attempt", r.header[r.repeat], text.Line(strconv.Quote(row[r.repeat]), 80))
	}
	key := fmt.Sprintf("%p %q %d", e.log, e.problem, n)
	if r.known[key] {
		return fmt.Errorf("%s %d of %s is duplicated", r.header[r.repeat], n, text.Line(e.problem, 80))
	}
	r.known[key] = true
	return nil
}

// fieldNumber returns the number of a field: true and false are 1 and 0, and other texts NaN.
func fieldNumber(field string) float64 {
	switch strings.ToLower(strings.TrimSpace(field)) {
	case "true", "yes", "passed", "pass":
		return 1
	case "false", "no", "failed", "fail":
		return 0
	}
	return decimal(field)
}

// finish names logs and their metrics. A column with a majority of texts is not a metric.
func (r *columnReader) finish() error {
	if len(r.logs) == 0 {
		return errors.New("it has a header but no rows")
	}
	var metrics []string
	for _, name := range r.header {
		texts := [2]string{withoutNumber.of, name}
		if n := r.numbers[name]; n > 0 && n >= r.counts[texts] {
			metrics = append(metrics, name)
			continue
		}
		delete(r.counts, texts)
		for _, l := range r.logs {
			for i := range l.Attempts {
				delete(l.Attempts[i].Values, name)
			}
		}
	}
	if len(metrics) == 0 {
		return errors.New("no column has numbers")
	}
	slices.SortStableFunc(metrics, func(a, b string) int { return rank(a) - rank(b) })
	label := append(r.labels, "")[0]
	first := map[string]bool{}
	for _, l := range r.logs {
		first[l.Labels[label]] = true
	}
	for _, l := range r.logs {
		if len(first) == len(r.logs) { // the first column distinguishes them
			l.Name = l.Labels[label]
		}
		delete(l.Labels, "solution") // it is the name
		l.Metrics = metrics
		for _, name := range metrics {
			if slices.Contains(verdictNames, strings.ToLower(name)) {
				l.Higher[name] = true
			}
		}
	}
	return nil
}

// rank puts columns that are surely metrics first.
func rank(name string) int {
	if at := slices.Index(metricNames, strings.ToLower(name)); at >= 0 {
		return at
	}
	return len(metricNames)
}
