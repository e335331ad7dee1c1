package score

import (
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// says is how programs begin a line that tells what went wrong: an exception's
// name, or the word for what it is, at its beginning or behind a place.
var says = lazyregexp.New(`^(?:[\w.]*(?:Error|Exception|Interrupt|Exit)(?::|$)|(?i:(?:error|fatal|panic|abort(?:ed)?|exception|segmentation fault)\b)|.*?: (?i:(?:fatal )?error|not found|no such file|permission denied)\b)`)

// Telling finds the line that best says why a grader gave no score, trimmed:
// the first that says so in so many words on standard error, then on standard
// output; else the first with the word Error; else the last on standard error
// or else output. It is empty when nothing was printed.
func Telling(stdout, stderr []byte) string {
	texts := []string{strings.ToValidUTF8(string(stderr), "\uFFFD"), strings.ToValidUTF8(string(stdout), "\uFFFD")}
	for _, tells := range []func(line string) bool{says().MatchString, namesError} {
		for _, text := range texts {
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); line != "" && !isWarning(line) && tells(line) {
					return shortenTo(line, messageRoom)
				}
			}
		}
	}
	for _, text := range texts {
		for line := range backwards(text) {
			if line = strings.TrimSpace(line); line != "" {
				return shortenTo(line, messageRoom)
			}
		}
	}
	return ""
}

func namesError(line string) bool {
	return strings.Contains(line, "Error") || strings.Contains(line, "ERROR")
}

// isWarning reports whether a line only warns: of what did not end the grader.
func isWarning(line string) bool { return strings.Contains(line, "Warning:") }

// messageRoom is how much of a line a message has, in bytes.
const messageRoom = 500

func shortenTo(s string, room int) string {
	if len(s) <= room {
		return s
	}
	return strings.ToValidUTF8(s[:room], "") + "…"
}
