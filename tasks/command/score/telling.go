package score

import (
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// errorLine matches the beginning of a line with an error message: the name of an
// exception or a word such as "error", at the start or after a location.
var errorLine = lazyregexp.New(`^(?:[\w.]*(?:Error|Exception|Interrupt|Exit)(?::|$)|(?i:(?:error|fatal|panic|abort(?:ed)?|exception|segmentation fault)\b)|.*?: (?i:(?:fatal )?error|not found|no such file|permission denied)\b)`)

// Telling returns the line that best explains why a grader gave no score,
// trimmed: the first error message on standard error, then on standard output;
// else the first line with the word Error; else the last line on standard
// error, or else on standard output. It returns "" if the grader printed
// nothing.
func Telling(stdout, stderr []byte) string {
	texts := []string{strings.ToValidUTF8(string(stderr), "\uFFFD"), strings.ToValidUTF8(string(stdout), "\uFFFD")}
	for _, tells := range []func(line string) bool{errorLine().MatchString, namesError} {
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

// isWarning reports whether a line is only a warning, which did not end the
// grader.
func isWarning(line string) bool { return strings.Contains(line, "Warning:") }

// messageRoom is the maximum size of a line in a message, in bytes.
const messageRoom = 500

func shortenTo(s string, room int) string {
	if len(s) <= room {
		return s
	}
	return strings.ToValidUTF8(s[:room], "") + "…"
}
