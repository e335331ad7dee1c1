package view

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// snippetLines limits the shown lines of a long range, whose first lines identify it. Above markedLines,
// lines are not marked, since marks under each line would obscure them.
const (
	snippetLines = 8
	markedLines  = 3
)

// snippet writes source lines with their numbers and, if they are few, underlines the part in r. lines[0] is
// the line of r.Start.
func snippet(out io.Writer, p text.Palette, r diag.Range, lines []string, paint func(string) string) {
	first := max(r.Start.Line, 1)
	shown := lines[:min(len(lines), snippetLines)]
	gutter := max(len(strconv.Itoa(first+len(shown)-1)), 3)
	for i, line := range shown {
		n := first + i
		before, covered, after := split(line, r, n)
		fmt.Fprintf(out, "  %s %s\n",
			p.Quiet(fmt.Sprintf("%*d |", gutter, n)), strings.TrimRight(before+covered+after, " "))
		// An empty range still has a position, also at a line's end.
		marks := max(text.Width(covered), 1)
		if len(lines) > markedLines || n > max(r.End.Line, first) || covered == "" && n != first {
			continue
		}
		fmt.Fprintf(out, "  %s %s%s\n", p.Quiet(strings.Repeat(" ", gutter)+" |"),
			strings.Repeat(" ", text.Width(before)), paint(strings.Repeat("^", marks)))
	}
	if more := len(lines) - len(shown); more > 0 {
		fmt.Fprintf(out, "  %s\n", p.Quiet(fmt.Sprintf("%s   %s", strings.Repeat(" ", gutter), text.Count(more, "more line"))))
	}
}

// split cuts source line n into the parts before, in and after r, each safe to show. Columns count
// user-perceived characters, from 1. In a range over several lines, the indentation of the later ones is
// not covered.
func split(line string, r diag.Range, n int) (before, covered, after string) {
	characters := text.Clusters(strings.TrimRight(line, "\r\n"))
	start, end := 0, len(characters)
	if n == r.Start.Line {
		start = r.Start.Column - 1
	} else {
		for start < end && strings.TrimSpace(characters[start]) == "" {
			start++
		}
	}
	if n == r.End.Line {
		end = r.End.Column - 1
	}
	start = min(max(start, 0), len(characters))
	end = min(max(end, start), len(characters))
	return safeSource(characters[:start]), safeSource(characters[start:end]), safeSource(characters[end:])
}

// safeSource joins characters; a tab becomes four spaces at any column.
func safeSource(characters []string) string {
	return text.Line(strings.ReplaceAll(strings.Join(characters, ""), "\t", "    "), 0)
}
