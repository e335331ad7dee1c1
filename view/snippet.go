package view

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// snippetLines is how much of a long range is shown; its first lines say
// which one it is. Above markedLines, marks under each of them would hide
// more than they show.
const (
	snippetLines = 8
	markedLines  = 3
)

// snippet writes source lines with their numbers and, when they are few,
// underlines what r covers of them. lines[0] is the line of r.Start.
func snippet(out io.Writer, p text.Palette, r diag.Range, lines []string, paint func(string) string) {
	first := max(r.Start.Line, 1)
	shown := lines[:min(len(lines), snippetLines)]
	gutter := max(len(strconv.Itoa(first+len(shown)-1)), 3)
	for i, line := range shown {
		n := first + i
		before, covered, after := split(line, r, n)
		fmt.Fprintf(out, "  %s %s\n",
			p.Quiet(fmt.Sprintf("%*d |", gutter, n)), strings.TrimRight(before+covered+after, " "))
		// A range of no width still has a place, and so has one at a line's end.
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

// split cuts source line n into what stands before, in and after r, each
// safe to show. Columns count characters as a reader does, from 1. Of a range
// over several lines, the indentation of the later ones is not covered.
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

// safeSource joins characters; a tab is four spaces wherever it stands.
func safeSource(characters []string) string {
	return text.Line(strings.ReplaceAll(strings.Join(characters, ""), "\t", "    "), 0)
}
