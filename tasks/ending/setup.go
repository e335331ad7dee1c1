package ending

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
)

// networkTrouble are the words in which uv and pip say that the index could
// not be reached, as opposed to a requirement that cannot be met.
var networkTrouble = regexp.MustCompile(`(?i)(error sending request|dns error|failed to lookup address|connection (refused|reset)|` +
	`tcp connect error|operation timed out|network (connectivity|unreachable|is unreachable)|temporary failure in name resolution|` +
	`tls handshake|invalid peer certificate|max retries exceeded|no space left on device)`)

// SetupBroken tells a set-up command that could not do its work from one that
// did it and said no. It returns the reason, or "".
func SetupBroken(exit backend.Exit, output []byte) string {
	const shellNotExecutable, shellNotFound = 126, 127
	// What ended a command is said last; expressions are slow on megabytes.
	const enough = 256 << 10
	output = output[max(0, len(output)-enough):]
	switch {
	case exit.TimedOut:
		return "its time limit ended it"
	case exit.Code == shellNotFound || exit.Code == shellNotExecutable:
		return "a program is missing: " + LastLine(bytes.TrimSpace(output))
	case exit.Code != 0 && networkTrouble.Match(output):
		return "no network: " + lineMatching(output, networkTrouble)
	}
	return ""
}

func lineMatching(text []byte, pattern *regexp.Regexp) string {
	for line := range bytes.Lines(text) {
		if pattern.Match(line) {
			return string(bytes.TrimSpace(line))
		}
	}
	return ""
}

// LastLine is the last line of a text that is not blank at its end.
func LastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return strings.TrimSpace(string(text))
}
