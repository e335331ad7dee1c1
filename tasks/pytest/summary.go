package pytest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// summary is pytest's report of its end in its output: "== 2 failed, 10 passed in 0.12s ==". It contains
// no text, so that it can be stored if secrets are masked in the log.
type summary struct {
	// Counts contains the numbers in the last line, by singular word: passed, failed, skipped, error. It is
	// nil without such a line.
	Counts map[string]int `json:"counts,omitempty"`
	// Cut is set if the log begins like a log that ends with such a line, but lacks both the line and a
	// plugin's replacement for it: pytest was ended early.
	Cut bool `json:"cut,omitempty"`
	// Subtests is set if subtests failed. Each counts as a failure, but they share one entry in a report.
	Subtests bool `json:"subtests,omitempty"`
}

var (
	firstLine = lazyregexp.New(`(?m)^(?:\x1b\[[0-9;]*m)*=+ test session starts =+`)
	lastLine  = lazyregexp.New(`^=+ (.+) in [0-9.]+ ?s(?:econds)?(?: \([^)]*\))? =+$`)
	earlyLine = lazyregexp.New(`^!{3,} (.+) !{3,}$`)
	countWord = lazyregexp.New(`^([0-9]+) ([a-z][a-z ]*)$`)
	// otherEnd matches the counts that reporters of plugins print at their ends.
	otherEnd  = lazyregexp.New(`\b[0-9]+ (?:passed|failed|skipped|xfailed|xpassed|errors?|deselected|tests? collected)\b|no tests ran`)
	colours   = lazyregexp.New(`\x1b\[[0-9;]*m`)
	subFailed = []byte("SUBFAIL") // SUBFAILED(...) of pytest 9, SUBFAIL of pytest-subtests
)

// countedElsewhere lists words in the summary that do not count tests, count tests that other words also
// count, or count tests that did not pass.
var countedElsewhere = []string{"failed", "error", "skipped", "xfailed", "deselected", "warning", "rerun", "subtests passed", "subtests skipped", "subtests failed"}

// passed returns the maximum number of passed tests, if up to worded tests can be counted with a plugin's
// word instead of pytest's.
func (s *summary) passed(worded int) int {
	others := 0
	for word, n := range s.Counts {
		if word != "passed" && word != "xpassed" && !slices.Contains(countedElsewhere, word) {
			others += n
		}
	}
	return s.Counts["passed"] + s.Counts["xpassed"] + min(worded, others)
}

// endedEarly finds the line that pytest prints below or directly above its summary if it did not run all
// selected tests: "!!! _pytest.outcomes.Exit: no server !!!".
func endedEarly(log []byte) string {
	above, below := "", false
	for line := range bytes.Lines(log) {
		var m [][]byte
		if bytes.Contains(line, []byte("!!!")) {
			m = earlyLine().FindSubmatch(bytes.TrimSpace(colours().ReplaceAll(line, nil)))
		}
		switch {
		case countsOf(bytes.TrimSpace(line)) != nil:
			if below = true; above != "" {
				return above
			}
		case m != nil && below:
			return string(m[1])
		case m != nil:
			above = string(m[1])
		case len(bytes.TrimSpace(line)) > 0:
			above = ""
		}
	}
	return ""
}

// summaryIn finds pytest's summary in its output. The end of the output is always stored.
func summaryIn(log []byte) *summary {
	s := &summary{Subtests: bytes.Contains(log, subFailed)}
	if !bytes.Contains(log, []byte(" test session starts ")) || !firstLine().Match(log) {
		return s // such as with -qqq: a line with counts can be from any process
	}
	for rest := log; len(rest) > 0 && s.Counts == nil; {
		i := bytes.LastIndexByte(rest, '\n')
		s.Counts = countsOf(rest[i+1:])
		rest = rest[:max(i, 0)]
	}
	s.Cut = s.Counts == nil && !otherEnd().Match(log)
	return s
}

// countsOf parses a line, and returns nil if it is not the last line of pytest.
func countsOf(line []byte) map[string]int {
	const longest = 1 << 10
	if len(line) > longest || !bytes.Contains(line, []byte(" in ")) || !bytes.Contains(line, []byte("= ")) {
		return nil
	}
	m := lastLine().FindSubmatch(bytes.TrimSpace(colours().ReplaceAll(line, nil)))
	if m == nil {
		return nil
	}
	counts := map[string]int{}
	if string(m[1]) == "no tests ran" {
		return counts
	}
	for part := range strings.SplitSeq(string(m[1]), ", ") {
		m := countWord().FindStringSubmatch(part)
		if m == nil {
			return nil
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil
		}
		word := m[2]
		if word == "errors" || word == "warnings" {
			word = strings.TrimSuffix(word, "s")
		}
		counts[word] = n
	}
	return counts
}
