package report

import (
	"io"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func writeTable(w io.Writer, r *Results, o Options) error {
	grid := layOut(r.inOrder(o.FailuresFirst), o.Verbose, text.Line, painted(o.Color))
	grid = grid.On(o.Page)
	_, err := io.WriteString(w, grid.Text())
	return err
}

// painted dresses words for a terminal.
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
	grid := layOut(r.inOrder(o.FailuresFirst), o.Verbose, text.Markdown, func(v verdict.Outcome, word string) string {
		if v == verdict.OutcomePassed || v == verdict.OutcomeScored || v == verdict.OutcomeSkipped {
			return word
		}
		return "**" + word + "**"
	})
	_, err := io.WriteString(w, grid.Markdown())
	return err
}
