package pytest

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// summary is what pytest says of its end in its output: "== 2 failed, 10 passed in
// 0.12s ==". It holds no text, so that it can be kept where the log has masks.
type summary struct {
	// Counts are the numbers of the last line, by their singular words: passed, failed,
	// skipped, error. nil when there is no such line.
	Counts map[string]int `json:"counts,omitempty"`
	// Cut is set when the log begins as one that ends with such a line, and has none, nor
	// anything that a plugin may print in its place: something ended pytest before.
	Cut bool `json:"cut,omitempty"`
	// Subtests is set when subtests failed. Each counts as a failure of its own, and they
	// have one entry in a report.
	Subtests bool `json:"subtests,omitempty"`
}

var (
	firstLine = lazyregexp.New(`(?m)^(?:\x1b\[[0-9;]*m)*=+ test session starts =+`)
	lastLine  = lazyregexp.New(`^=+ (.+) in [0-9.]+ ?s(?:econds)?(?: \([^)]*\))? =+$`)
	countWord = lazyregexp.New(`^([0-9]+) ([a-z][a-z ]*)$`)
	// otherEnd is how reporters of plugins count at their ends.
	otherEnd  = lazyregexp.New(`\b[0-9]+ (?:passed|failed|skipped|xfailed|xpassed|errors?|deselected|tests? collected)\b|no tests ran`)
	colours   = lazyregexp.New(`\x1b\[[0-9;]*m`)
	subFailed = []byte("SUBFAIL") // SUBFAILED(...) of pytest 9, SUBFAIL of pytest-subtests
)

// summaryIn finds pytest's summary in its output, of which the end is always kept.
func summaryIn(log []byte) *summary {
	s := &summary{Subtests: bytes.Contains(log, subFailed)}
	if !bytes.Contains(log, []byte(" test session starts ")) || !firstLine().Match(log) {
		return s // such as with -qqq: what is counted in there may be anybody's
	}
	for rest := log; len(rest) > 0 && s.Counts == nil; {
		i := bytes.LastIndexByte(rest, '\n')
		s.Counts = countsOf(rest[i+1:])
		rest = rest[:max(i, 0)]
	}
	s.Cut = s.Counts == nil && !otherEnd().Match(log)
	return s
}

// countsOf reads a line; nil when it is not pytest's last.
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
