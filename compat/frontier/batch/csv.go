package batch

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
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

// DecodeCSV reads a results.csv. Its scores are rounded to Decimals.
func DecodeCSV(from io.Reader) ([]Result, error) {
	in := csv.NewReader(from)
	header, err := in.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	at := map[string]int{}
	for i, name := range header {
		at[name] = i
	}
	for _, name := range []string{"solution", "problem", "score", "status"} {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("line 1 has no column %q, so it is not the results.csv of a batch", name)
		}
	}
	var results []Result
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return results, nil
		}
		if err != nil {
			return nil, err
		}
		get := func(name string) string {
			if i, ok := at[name]; ok {
				return record[i]
			}
			return ""
		}
		r := Result{
			Pair: Pair{Solution: get("solution"), Problem: get("problem")}, Status: Status(get("status")), Message: get("message"),
			Timestamp: get("timestamp"), SolutionHash: get("solution_hash"), ProblemHash: get("problem_hash"),
		}
		var seconds *float64
		for _, n := range []struct {
			name string
			into **float64
		}{{"score", &r.Score}, {"score_unbounded", &r.Unbounded}, {"duration_seconds", &seconds}} {
			if *n.into, err = parseDecimal(get(n.name)); err != nil {
				line, _ := in.FieldPos(0)
				return nil, fmt.Errorf("line %d: %s: %w", line, n.name, err)
			}
		}
		if seconds != nil {
			r.Seconds = *seconds
		}
		if i := slices.IndexFunc(results, func(o Result) bool { return o.Pair == r.Pair }); i >= 0 {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: the pair %s is there twice", line, r.ID())
		}
		results = append(results, r)
	}
}

func parseDecimal(s string) (*float64, error) {
	if s == "" {
		return nil, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number", s)
	}
	return &f, nil
}
