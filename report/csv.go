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

// csvHeader lists the columns. The first ones describe the cell, the checkpoint and its verdict. Those with the
// prefix test_ describe a test; test_checkpoint is the checkpoint that introduced it. New columns are only
// added at the end.
var csvHeader = [...]string{
	"run", "problem", "solution", "backend", "repeat", "checkpoint", "class", "passed", "policy", "message",
	"test_id", "test_file", "test_checkpoint", "test_group", "test_status", "test_duration_ms", "test_message",
	"score", "score_unbounded", "test_verdict", "test_ratio", "test_ratio_unbounded", "test_cpu_ms", "test_memory_bytes",
	"state", "figures", "task",
}

// writeCSV writes a record for each test. A checkpoint without tests has one record with empty test columns, so
// that readers see what was not judged; so has a task. Lines end as in RFC 4180, also inside quoted fields.
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
			c.judgedIn(r.Run), cell.Problem, cell.Solution, cell.Backend, strconv.Itoa(cell.Repeat),
			c.Name, string(c.Class), passedText(c), c.Policy, row.message(),
		}
		scores := []string{formatExact(c.Score) + c.ScoreText, formatExact(c.ScoreUnbounded) + c.ScoreUnboundedText} // at most one of each pair is set
		if len(c.Tests) == 0 {
			if err := put(slices.Concat(axes, make([]string, 7), scores, make([]string, 5), []string{c.State, figuresText(c), ""})...); err != nil {
				return err
			}
		}
		for _, t := range c.Tests {
			test := []string{
				t.ID, t.File, t.Checkpoint, string(t.Group), string(t.Status), milliseconds(&t.DurationMS), messageOr(t.Message, ""),
			}
			measured := []string{t.Verdict, formatExact(t.Ratio), formatExact(t.RatioUnbounded), milliseconds(t.CPUMS), ""}
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

// figuresText returns "TASK.METRIC=VALUE" for each figure, sorted by name and separated by spaces.
func figuresText(c *Checkpoint) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c.Figures)) {
		all = append(all, name+"="+strconv.FormatFloat(c.Figures[name], 'g', -1, 64))
	}
	return strings.Join(all, " ")
}

// CSVField returns text as a CSV field that no spreadsheet evaluates.
func CSVField(s string) string { return inert(text.Document(s)) }

// inert prefixes text that a spreadsheet would evaluate as a formula with an apostrophe, which spreadsheets do
// not show. Numbers are unchanged.
func inert(field string) string {
	if field == "" || !strings.ContainsRune("=+-@\t\r", rune(field[0])) {
		return field
	}
	if _, err := strconv.ParseFloat(field, 64); err == nil {
		return field
	}
	return "'" + field
}

// milliseconds formats a time to the microsecond; "" if it is nil.
func milliseconds(ms *float64) string {
	if ms == nil {
		return ""
	}
	return strconv.FormatFloat(math.Round(*ms*1000)/1000, 'f', -1, 64)
}
