package report

import (
	"encoding/csv"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// csvHeader names the columns. The first ones say which cell and checkpoint
// was run and how that ended, the test_ ones are about one test;
// test_checkpoint is the checkpoint that brought the test in. Columns are only
// ever added at the end.
var csvHeader = [...]string{
	"run", "problem", "solution", "backend", "repeat", "checkpoint", "class", "passed", "policy", "message",
	"test_id", "test_file", "test_checkpoint", "test_group", "test_status", "test_duration_ms", "test_message",
	"score", "score_unbounded", "test_verdict", "test_ratio", "test_ratio_unbounded", "test_cpu_ms", "test_memory_bytes",
	"state", "figures", "task",
}

// writeCSV writes one record per test. A checkpoint without tests has one
// record in which the test columns are empty, so that what was not judged
// does not disappear, and so has each task. Lines end as RFC 4180 says, also inside quoted fields.
func writeCSV(w io.Writer, r *Results, _ Options) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	put := func(fields ...string) error {
		for i, f := range fields {
			fields[i] = CSVField(f)
		}
		return out.Write(fields)
	}
	header := csvHeader
	if err := put(header[:]...); err != nil {
		return err
	}
	for _, row := range rowsOf(r) {
		cell, c := row.cell, row.checkpoint
		axes := []string{
			orName(c.Run, r.Run), cell.Problem, cell.Solution, cell.Backend, strconv.Itoa(cell.Repeat),
			c.Name, string(c.Class), passedText(c), c.Policy, row.message(),
		}
		scores := []string{exact(c.Score) + c.ScoreText, exact(c.ScoreUnbounded) + c.ScoreUnboundedText} // one of each two is empty
		if len(c.Tests) == 0 {
			if err := put(slices.Concat(axes, make([]string, 7), scores, make([]string, 5), []string{c.State, figuresText(c), ""})...); err != nil {
				return err
			}
		}
		for _, t := range c.Tests {
			test := []string{
				t.ID, t.File, t.Checkpoint, string(t.Group), string(t.Status), milliseconds(&t.DurationMS), messageOr(t.Message, ""),
			}
			measured := []string{t.Verdict, exact(t.Ratio), exact(t.RatioUnbounded), milliseconds(t.CPUMS), ""}
			if t.MemoryBytes != nil {
				measured[4] = strconv.FormatInt(*t.MemoryBytes, 10)
			}
			if err := put(slices.Concat(axes, test, scores, measured, []string{c.State, figuresText(c), ""})...); err != nil {
				return err
			}
		}
	}
	for i := range r.Tasks {
		t, record := &r.Tasks[i], make([]string, len(csvHeader))
		for column, field := range map[string]string{"run": orName(t.Run, r.Run), "class": t.Outcome, "passed": strconv.FormatBool(t.Outcome == TaskDone), "message": t.Message, "state": t.State, "task": t.Name} {
			record[slices.Index(header[:], column)] = field
		}
		if err := put(record...); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// figuresText is "TASK.METRIC=VALUE" for each figure, by name, with spaces between.
func figuresText(c *Checkpoint) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c.Figures)) {
		all = append(all, name+"="+strconv.FormatFloat(c.Figures[name], 'g', -1, 64))
	}
	return strings.Join(all, " ")
}

// CSVField returns a text as a field of CSV that no spreadsheet runs.
func CSVField(s string) string { return inert(text.Document(s)) }

// inert keeps a spreadsheet from running a text that begins like a formula: it gets an
// apostrophe in front, which spreadsheets do not show. Numbers are as they are.
func inert(field string) string {
	if field == "" || !strings.ContainsRune("=+-@\t\r", rune(field[0])) {
		return field
	}
	if _, err := strconv.ParseFloat(field, 64); err == nil {
		return field
	}
	return "'" + field
}

// milliseconds is a time to the microsecond; "" for none.
func milliseconds(ms *float64) string {
	if ms == nil {
		return ""
	}
	return strconv.FormatFloat(math.Round(*ms*1000)/1000, 'f', -1, 64)
}
