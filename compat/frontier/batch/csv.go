package batch

import (
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// columns is the header of results.csv.
var columns = []string{
	"solution", "problem", "score", "score_unbounded", "status", "message", "duration_seconds", "timestamp", "solution_hash", "problem_hash",
}

// Decimals is the number of decimal places of scores in every table.
const Decimals = 3

// resultsCSV returns results.csv: a line for each pair, by their IDs.
func resultsCSV(results []Result) []byte {
	var t table
	t.line(columns...)
	for _, r := range sorted(results) {
		seconds := ""
		if r.Seconds != 0 {
			seconds = decimal(&r.Seconds)
		}
		t.line(r.Solution, r.Problem, decimal(r.Score), decimal(r.Unbounded), string(r.Status), r.Message,
			seconds, r.Timestamp, r.SolutionHash, r.ProblemHash)
	}
	return t.content
}

// decimal formats a number as Python's "%.3f" does, with nan and inf in Python's words. A nil number is "".
func decimal(f *float64) string {
	switch {
	case f == nil:
		return ""
	case !finite(f):
		return pyjson.Float(*f)
	}
	return strconv.FormatFloat(*f, 'f', Decimals, 64)
}

// table is CSV as Python's csv module writes it: fields are quoted only where
// they must be, and line ends within them stay as they are.
type table struct{ content []byte }

func (t *table) line(fields ...string) {
	for i, f := range fields {
		if i > 0 {
			t.content = append(t.content, ',')
		}
		if strings.ContainsAny(f, ",\"\r\n") {
			f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
		}
		t.content = append(t.content, f...)
	}
	t.content = append(t.content, "\r\n"...)
}
