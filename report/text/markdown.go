package text

import (
	"strings"
	"unicode"
)

// markdown marks what would otherwise be read as formatting, HTML or a link.
// The bar is left to the table writer, which escapes it.
var markdown = map[rune]string{
	'&': "&amp;", '<': "&lt;", '>': "&gt;",
	'\\': `\\`, '`': "\\`", '*': `\*`, '~': `\~`, '[': `\[`, ']': `\]`,
	'@': "@\u200b", // a zero-width space keeps a name from notifying a person
}

// Markdown returns s, made a safe line of at most limit columns first, as
// literal text for GitHub-flavoured Markdown.
func Markdown(s string, limit int) string {
	var b strings.Builder
	runes := []rune(Line(s, limit))
	for i, r := range runes {
		switch replacement, special := markdown[r]; {
		case special:
			b.WriteString(replacement)
		case r == '_' && !(i > 0 && wordRune(runes[i-1]) && i+1 < len(runes) && wordRune(runes[i+1])):
			b.WriteString(`\_`) // inside a word it is literal anyway
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Backquotes is how many backquotes stand in a row in s at most: a longer row encloses it as
// code.
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
