package report

import (
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func writeTable(w io.Writer, r *Results, o Options) error {
	if len(r.Cells) > 0 || len(r.Tasks) == 0 {
		grid := layOut(r.inOrder(o.FailuresFirst), o.Verbose, text.Line, painted(o.Color))
		grid = grid.On(o.Page)
		if _, err := io.WriteString(w, grid.Text()); err != nil || len(r.Tasks) == 0 {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return WriteTaskTable(w, r, o)
}

// WriteTaskTable writes the part of the table format about tasks.
func WriteTaskTable(w io.Writer, r *Results, o Options) error {
	grid := r.taskGrid(o.Verbose, text.Line, painted(o.Color))
	grid = grid.On(o.Page)
	_, err := io.WriteString(w, grid.Text())
	return err
}

// painted returns a function that colors words for a terminal.
func painted(color bool) func(v verdict.Outcome, word string) string {
	palette := text.NewPalette(color)
	return func(v verdict.Outcome, word string) string {
		switch v {
		case verdict.OutcomePassed:
			return palette.Good(word)
		case verdict.OutcomeSkipped, verdict.OutcomeScored:
			return palette.Quiet(word)
		case verdict.OutcomeBroken:
			return palette.Doubt(word)
		}
		return palette.Bad(word)
	}
}

func writeMarkdown(w io.Writer, r *Results, o Options) error {
	mark := func(v verdict.Outcome, word string) string {
		if v == verdict.OutcomePassed || v == verdict.OutcomeScored || v == verdict.OutcomeSkipped {
			return word
		}
		return "**" + word + "**"
	}
	var tables []string
	if len(r.Cells) > 0 || len(r.Tasks) == 0 {
		grid := layOut(r.inOrder(o.FailuresFirst), o.Verbose, text.Markdown, mark)
		tables = append(tables, grid.Markdown())
	}
	if len(r.Tasks) > 0 {
		grid := r.taskGrid(o.Verbose, text.Markdown, mark)
		tables = append(tables, grid.Markdown())
	}
	_, err := io.WriteString(w, strings.Join(tables, "\n"))
	return err
}
