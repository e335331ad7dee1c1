package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// TestFormats lists the formats of WriteTests.
func TestFormats() []string { return []string{"table", "markdown"} }

// WriteTests renders a row for each test or case of r or, with failed, for each that did not pass. A checkpoint
// without tests, or that was not judged, has its own row. An unknown format is an error that lists the supported ones.
func WriteTests(w io.Writer, format string, r *Results, failed bool, o Options) error {
	var err error
	switch format {
	case "table":
		grid := testGrid(r, failed, text.Line, painted(o.Color))
		grid = grid.On(o.Page)
		_, err = io.WriteString(w, grid.Text())
	case "markdown":
		grid := testGrid(r, failed, text.Markdown, func(_ verdict.Outcome, word string) string { return word })
		_, err = io.WriteString(w, grid.Markdown())
	default:
		return text.Unknown("format of tests", format, TestFormats())
	}
	if err != nil {
		return fmt.Errorf("writing tests as %s: %w", format, err)
	}
	return nil
}

func testGrid(r *Results, failed bool, safe func(string, int) string, mark func(verdict.Outcome, string) string) text.Grid {
	grid := text.Grid{Header: []string{"cell", "test", "group", "status", "holds", "time", "memory", "message"}, Right: []int{5, 6}}
	rows := rowsOf(r.inOrder(false))
	// Omit the only backend: terminals are narrow.
	one := !slices.ContainsFunc(rows, func(other row) bool { return other.cell.Backend != rows[0].cell.Backend })
	for _, row := range rows {
		name := safe(rowName(row, !one), 0)
		state := orName(row.checkpoint.State, "-")
		if m := caseOf(row.checkpoint); m != nil && !(failed && solved(row.checkpoint)) {
			grid.Rows = append(grid.Rows, []string{name, "-", "-", mark(m.outcome, orName(word(row.checkpoint), m.kind)), state, "-", "-", safe(text.FirstLine(m.message), 0)})
		}
		for i := range row.checkpoint.Tests {
			t := &row.checkpoint.Tests[i]
			passed := t.Status == verdict.TestPassed
			if failed && passed {
				continue
			}
			said := ""
			if !passed {
				said = testError(t)
			}
			group := "-" // cases of a judge problem have no group
			if row.checkpoint.Name != "" {
				group = orName(string(t.Group), "-")
			}
			grid.Rows = append(grid.Rows, []string{name, safe(t.ID, nameColumns), group,
				mark(junitVerdict(t.Status), orName(t.Verdict, string(t.Status))), state, text.Duration(t.seconds()), t.memory(), safe(said, 0)})
		}
	}
	for _, t := range r.undone() {
		grid.Rows = append(grid.Rows, []string{safe(t.Address(), nameColumns), "-", "-", mark(t.Verdict(), t.Outcome), "-", text.Duration(t.Seconds), "-", safe(t.note(), 0)})
	}
	grid.Spare = append(grid.Blank(5), 6)
	return grid.Without(grid.Blank(2, 4, 6)...)
}

// seconds returns the processor time of a judge's case, since its limit applies to that, and otherwise the
// duration.
func (t *Test) seconds() float64 {
	if t.CPUMS != nil {
		return *t.CPUMS / 1000
	}
	return t.DurationMS / 1000
}

// memory returns the peak of a judge's case; "-" if unknown.
func (t *Test) memory() string {
	if t.MemoryBytes == nil {
		return "-"
	}
	return text.Bytes(*t.MemoryBytes)
}
