package text

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns the number of terminal columns of s, without colors of a Palette.
func Width(s string) int { return uniseg.StringWidth(stripColor(s)) }

// Cut shortens s to limit columns, with an Ellipsis at the end. s must not contain color.
func Cut(s string, limit int) string {
	if limit <= 0 {
		return s
	}
	// Stop at the limit: s may be a megabyte.
	kept, columns, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		columns += width
		if columns > limit {
			return s[:kept] + Ellipsis
		}
		if columns < limit { // there is room for the Ellipsis
			kept += len(cluster)
		}
	}
	return s
}

// Pad fills s with spaces up to width columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// Clusters splits s into user-perceived characters, the unit of source columns.
func Clusters(s string) []string {
	var out []string
	state := -1
	for s != "" {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		out = append(out, cluster)
	}
	return out
}

// Hang wraps lines of s at spaces so that none exceeds width, unless a word does. Continued lines are indented
// four columns deeper than their line. A width below 1 wraps nothing.
func Hang(s string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		line, end := strings.CutSuffix(line, "\n")
		margin := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+4)
		for width > 0 && Width(line) > width {
			at := lastSpace(line, width)
			if at < 0 {
				break
			}
			b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = margin + strings.TrimLeft(line[at:], " ")
		}
		b.WriteString(line)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// lastSpace returns where to break a line: at the last space after text within width, or else at the first
// space, or -1.
func lastSpace(line string, width int) int {
	begin, at := len(line)-len(strings.TrimLeft(line, " ")), -1
	for i := begin; i < len(line); i++ {
		if line[i] != ' ' {
			continue
		}
		if at >= 0 && Width(line[:i]) > width {
			break
		}
		if at = i; Width(line[:i]) > width {
			break
		}
	}
	return at
}

// Fold wraps s at spaces so that no line exceeds width, unless a word does. Line ends stay, and lines that
// begin with a space are left alone: their layout is given. A width below 1 wraps nothing.
func Fold(s string, width int) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		if width < 1 || Width(line) <= width || strings.HasPrefix(line, " ") {
			out = append(out, line)
			continue
		}
		current, columns := "", 0
		for _, word := range strings.Fields(line) {
			w := Width(word)
			if current != "" && columns+1+w > width {
				out = append(out, current)
				current, columns = "", 0
			}
			if current != "" {
				current += " "
				columns++
			}
			current += word
			columns += w
		}
		out = append(out, current)
	}
	return out
}
