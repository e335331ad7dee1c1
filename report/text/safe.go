package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis marks where a string was shortened.
const Ellipsis = "…"

// Line returns s as one line that is safe on a terminal: control characters, line ends, bidirectional overrides
// and invalid bytes are written as Go escapes. With a limit above 0, the result has at most that many terminal
// columns; if it was shortened, the last one is an Ellipsis.
func Line(s string, limit int) string {
	if limit > 0 {
		// A column takes at least a byte, so a megabyte need not be escaped for eighty columns. Combining
		// characters take no column, hence the factor.
		const bytesPerColumn = 16
		if most := (limit + 1) * bytesPerColumn; len(s) > most {
			s = s[:most]
		}
	}
	s = escape(s, false)
	if limit > 0 {
		s = Cut(s, limit)
	}
	return s
}

// Block escapes text of several lines like Line, but keeps line ends and tabs.
func Block(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), true) }

// Document returns s as valid UTF-8. Characters that XML 1.0 and readers of CSV reject become U+FFFD; line ends
// and tabs stay.
func Document(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return r
		case r < 0x20 || r == 0xFFFE || r == 0xFFFF:
			return utf8.RuneError
		}
		return r // invalid bytes arrive as RuneError already
	}, s)
}

// FirstLine returns the first line of s that is not blank, without surrounding space.
func FirstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

func escape(s string, multiline bool) string {
	clean := true
	for _, r := range s {
		if unsafe(r) {
			clean = false
			break
		}
	}
	if clean && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case multiline && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == utf8.RuneError && size == 1, unsafe(r):
			quoted := strconv.QuoteToASCII(s[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// unsafe reports whether a terminal interprets a character instead of showing it: controls, and format
// characters such as overrides of the writing direction. The joiner of emoji sequences is a harmless format
// character.
func unsafe(r rune) bool {
	const zeroWidthJoiner = '\u200d'
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Cf, r) && r != zeroWidthJoiner
}
