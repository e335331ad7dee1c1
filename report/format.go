package report

import (
	"fmt"
	"io"
	"time"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Options configure a rendering. Only tables use Page.
type Options struct {
	text.Page
	Verbose bool // table and markdown: list every checkpoint, regardless of their number
	// FailuresFirst puts cells that need attention first; table and markdown.
	FailuresFirst bool
	// Start and Stop are the times of the run, for CTRF; zero is written as 0.
	Start, Stop time.Time
	// Only for format "github": the results to compare with, a description of the work that the run avoided,
	// and the maximum length of the text in bytes; 0 means CommentLimit.
	Before *Results
	Served string
	Limit  int
}

// format is a rendering. A new one is a file and a line of formats.
type format struct {
	name  string
	write func(io.Writer, *Results, Options) error
	// states reports whether the format shows the state of a verdict. If not, it gets Results.Current.
	states bool
}

func formats() []format {
	return []format{
		{"table", writeTable, true},
		{"json", writeJSON, true},
		{"jsonl", writeJSONLines, true},
		{"csv", writeCSV, true},
		{"markdown", writeMarkdown, true},
		{"junit", writeJUnit, false},
		{"junit-tests", writeJUnitTests, false},
		{"ctrf", writeCTRF, false},
		{"github", writeGitHub, true},
		{"gitlab", writeGitLab, false},
		{"svg", writeSVG, false},
	}
}

// Formats lists the names of the formats of Write.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Write renders r in the named format, without changing r. Tables order cells by name; other formats keep the
// order of r. An unknown format is an error that lists the supported ones.
func Write(w io.Writer, name string, r *Results, o Options) error {
	for _, f := range formats() {
		if f.name != name {
			continue
		}
		if !f.states {
			r = r.Current()
		}
		if err := f.write(w, r, o); err != nil {
			return fmt.Errorf("writing results as %s: %w", name, err)
		}
		return nil
	}
	return text.Unknown("format", name, Formats())
}
