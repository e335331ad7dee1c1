package describe

import "github.com/fevalgraph/fevalgraph/eval/validate"

// Coverage returns a table of how many of the expected solutions of each problem are present, with a total
// in the last row.
func Coverage(all []*validate.Coverage) Rows {
	rows := Rows{Header: []string{"problem", "expected", "present", "missing", "failed", "empty"}}
	var expected, present, missing, failed, empty int
	for _, c := range all {
		rows.Values = append(rows.Values, []any{c.Problem, c.Expected, c.Present, len(c.Missing), len(c.Failed), len(c.Empty)})
		expected, present = expected+c.Expected, present+c.Present
		missing, failed, empty = missing+len(c.Missing), failed+len(c.Failed), empty+len(c.Empty)
	}
	rows.Values = append(rows.Values, []any{"all", expected, present, missing, failed, empty})
	return rows
}
