package rules

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Judge implements judge.Dialect.
type Judge struct{}

// Output returns a solution's output as its checker reads it: each byte that is not UTF-8 is U+FFFD.
func (Judge) Output(content []byte) []byte {
	if utf8.Valid(content) {
		return content
	}
	return []byte(string([]rune(string(content))))
}

var (
	ratioWord     = lazyregexp.New(`Ratio: ([0-9.]+)`)
	unboundedWord = lazyregexp.New(`RatioUnbounded: ([0-9.]+)`)
)

// Ratios returns the first ratios in the output of any program, whether or not it ended well. The signal
// that ended a solution is part of the output.
func (Judge) Ratios(clean bool, said, signal string) (ratio, unbounded float64, message string) {
	if signal != "" {
		said += "(signal=" + signal + ")"
	}
	if clean {
		ratio = 1
	}
	if word := ratioWord().FindStringSubmatch(said); word != nil {
		ratio = parseFloat(word[1])
	}
	unbounded = ratio
	if word := unboundedWord().FindStringSubmatch(said); word != nil {
		unbounded = parseFloat(word[1])
	}
	return ratio, unbounded, said
}

// parseFloat parses digits and points as JavaScript does: the longest prefix that is a number.
func parseFloat(s string) float64 {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		if j := strings.IndexByte(s[i+1:], '.'); j >= 0 {
			s = s[:i+1+j]
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(n, 0) {
		return math.NaN()
	}
	return n
}
