package text

import (
	"strings"
	"unicode"
)

// markdown escapes characters that would start formatting, HTML or a link. The table writer escapes the bar.
var markdown = map[rune]string{
	'&': "&amp;", '<': "&lt;", '>': "&gt;",
	'\\': `\\`, '`': "\\`", '*': `\*`, '~': `\~`, '[': `\[`, ']': `\]`,
	'@': "@\u200b", // a zero-width space, so that no user is notified
}

const zeroWidthSpace = '\u200b'

// startsReference reports whether the rune at i would make a link of the text after it: "#1", which can close
// an issue, "GH-1", an address with "://", or "www.".
func startsReference(runes []rune, i int) bool {
	if i+1 == len(runes) {
		return false
	}
	next := runes[i+1]
	switch runes[i] {
	case '#':
		return unicode.IsDigit(next)
	case '-':
		return unicode.IsDigit(next) && i > 0 && strings.EqualFold(string(runes[max(0, i-2):i]), "gh")
	case ':':
		return next == '/'
	case 'w', 'W':
		return next == '.' && i > 1 && strings.EqualFold(string(runes[i-2:i]), "ww")
	}
	return false
}

// Markdown returns s as literal text of GitHub-flavoured Markdown: first as a safe line of at most limit
// columns, then escaped.
func Markdown(s string, limit int) string {
	var b strings.Builder
	runes := []rune(Line(s, limit))
	for i, r := range runes {
		switch replacement, special := markdown[r]; {
		case special:
			b.WriteString(replacement)
		case startsReference(runes, i):
			b.WriteRune(r)
			b.WriteRune(zeroWidthSpace)
		case r == '_' && !(i > 0 && wordRune(runes[i-1]) && i+1 < len(runes) && wordRune(runes[i+1])):
			b.WriteString(`\_`) // inside a word it is literal
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Backquotes returns the length of the longest run of backquotes in s: a longer run encloses s as code.
func Backquotes(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
