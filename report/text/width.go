package text

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns the terminal columns that s takes. It counts colour written
// by a Palette as nothing.
func Width(s string) int { return uniseg.StringWidth(stripColor(s)) }

// Cut shortens s to limit columns; what was cut is shown by an Ellipsis. s
// must not hold colour.
func Cut(s string, limit int) string {
	if limit <= 0 {
		return s
	}
	// One pass that ends where the limit is: s may be a megabyte.
	kept, columns, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		columns += width
		if columns > limit {
			return s[:kept] + Ellipsis
		}
		if columns < limit { // room for the Ellipsis
			kept += len(cluster)
		}
	}
	return s
}

// cutMiddle shortens s to limit columns by what is in its middle, which an Ellipsis shows. s must
// not hold colour.
func cutMiddle(s string, limit int) string {
	all := Clusters(s)
	head, tail, columns := 0, len(all), Width(Ellipsis)
	for head < tail {
		front := head <= len(all)-tail // in turn
		next := all[tail-1]
		if front {
			next = all[head]
		}
		if columns += Width(next); columns > limit {
			break
		}
		if front {
			head++
		} else {
			tail--
		}
	}
	return strings.Join(all[:head], "") + Ellipsis + strings.Join(all[tail:], "")
}

// Pad fills s with spaces up to width columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// Clusters splits s into what a reader calls characters, the unit in which
// source columns are counted.
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

// Hang breaks lines of s at spaces so that none is wider than width, where words allow. What
// goes on stands four columns to the right of where its line began. A width below 1 breaks nothing.
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

// Fold breaks s at spaces so that no line is wider than width, where words
// allow. Line ends stay, and a line that begins with a space is left alone:
// it is laid out already. A width below 1 folds nothing.
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
