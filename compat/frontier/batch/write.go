package batch

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// File is a file of a batch's results directory.
type File struct {
	Name    string
	Content []byte
}

// Files are those of a batch's results directory:
//
//	results.csv                        every pair
//	by_model.csv, by_problem.csv       counts, means and extremes
//	failed.txt                         pairs with an error or a timeout
//	pending.txt, skipped.txt           pairs without an answer, and why
//	summary.txt                        for users; title is its first line
//
// Nothing in them depends on when they are made, so that a directory that is a git
// repository has no changes when the results have none.
func Files(title string, results []Result) ([]File, error) {
	results = sorted(results)
	for i := 1; i < len(results); i++ {
		if results[i].Pair == results[i-1].Pair {
			return nil, fmt.Errorf("two results for the pair %s", results[i].ID())
		}
	}
	is := func(all ...Status) func(Status) bool {
		return func(s Status) bool { return slices.Contains(all, s) }
	}
	return []File{
		{"failed.txt", list(results, is(Error, Timeout))},
		{"pending.txt", list(results, func(s Status) bool { return !s.Complete() })},
		{"skipped.txt", list(results, is(Skipped))},
		{"by_model.csv", aggregateCSV("model", results, func(r Result) string { return r.Model() })},
		{"by_problem.csv", aggregateCSV("problem", results, func(r Result) string { return r.Problem })},
		{"summary.txt", summary(title, results)},
		{"results.csv", resultsCSV(results)}, // last: a reader that finds it can rely on the others
	}, nil
}

// list returns a file of pairs, one a line, as batches take them to judge again.
func list(results []Result, wanted func(Status) bool) []byte {
	var b bytes.Buffer
	for _, r := range results {
		if wanted(r.Status) {
			fmt.Fprintln(&b, r.ID())
		}
	}
	return b.Bytes()
}

func summary(title string, results []Result) []byte {
	complete, successful, failed := 0, 0, 0
	for _, r := range results {
		if r.Status.Complete() {
			complete++
		}
		switch r.Status {
		case Success:
			successful++
		case Error, Timeout:
			failed++
		}
	}
	lines := []string{
		title,
		strings.Repeat("=", 50),
		fmt.Sprintf("Total pairs: %d", len(results)),
		fmt.Sprintf("Completed: %d", complete),
		fmt.Sprintf("Successful: %d", successful),
		fmt.Sprintf("Errors: %d", failed),
		"",
		"Results:",
		strings.Repeat("-", 50),
	}
	for _, r := range results {
		what := string(r.Status) + " - "
		switch {
		case r.Status == Success && r.Score != nil:
			what = pyjson.Float(*r.Score)
		case r.Message != "":
			what += r.Message
		default:
			what += "N/A"
		}
		lines = append(lines, fmt.Sprintf("%s -> %s: %s", r.Solution, r.Problem, what))
	}
	return []byte(strings.Join(lines, "\n"))
}
