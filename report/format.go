package report

import (
	"fmt"
	"io"
	"time"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Options are what a rendering may know beside the results. Only tables use Page.
type Options struct {
	text.Page
	Verbose bool // table and markdown: every checkpoint, however many
	// FailuresFirst orders cells by how much they ask for attention; table and markdown.
	FailuresFirst bool
	// Start and Stop of the run, which CTRF wants; zero is written as 0.
	Start, Stop time.Time
	// Of format "github": results to compare with, what a run was spared, in words, and how
	// long the text may be, in bytes; 0 is CommentLimit.
	Before *Results
	Served string
	Limit  int
}

// format is one rendering. Adding one is one file and one line of formats.
type format struct {
	name  string
	write func(io.Writer, *Results, Options) error
}

func formats() []format {
	return []format{
		{"table", writeTable},
		{"json", writeJSON},
		{"jsonl", writeJSONLines},
		{"csv", writeCSV},
		{"markdown", writeMarkdown},
		{"junit", writeJUnit},
		{"junit-tests", writeJUnitTests},
		{"ctrf", writeCTRF},
		{"github", writeGitHub},
		{"gitlab", writeGitLab},
		{"svg", writeSVG},
	}
}

// Formats lists the names that Write knows.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Write renders r in the named format. It changes nothing in r. Tables order cells by
// their names; the other formats keep the order of r. An unknown format is an error that lists the known ones.
func Write(w io.Writer, name string, r *Results, o Options) error {
	for _, f := range formats() {
		if f.name != name {
			continue
		}
		if err := f.write(w, r, o); err != nil {
			return fmt.Errorf("writing results as %s: %w", name, err)
		}
		return nil
	}
	return text.Unknown("format", name, Formats())
}
