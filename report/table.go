package report

import (
	"io"

	"github.com/fevalgraph/fevalgraph/report/text"
)

func writeTable(w io.Writer, r *Results, o Options) error {
	grid := layOut(r, o.Verbose, text.Line, painted(o.Color))
	grid.Width = o.Width
	_, err := io.WriteString(w, grid.Text())
	return err
}

// painted dresses words for a terminal.
func painted(color bool) func(v outcome, word string) string {
	palette := text.NewPalette(color)
	return func(v outcome, word string) string {
		switch v {
		case outcomePassed:
			return palette.Good(word)
		case outcomeSkipped, outcomeScored:
			return palette.Quiet(word)
		case outcomeBroken:
			return palette.Doubt(word)
		}
		return palette.Bad(word)
	}
}

func writeMarkdown(w io.Writer, r *Results, o Options) error {
	grid := layOut(r, o.Verbose, text.Markdown, func(v outcome, word string) string {
		if v == outcomePassed || v == outcomeScored || v == outcomeSkipped {
			return word
		}
		return "**" + word + "**"
	})
	_, err := io.WriteString(w, grid.Markdown())
	return err
}
