package score

import (
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Line reads one or two numbers from a line without other text.
func Line(line string) (Score, bool) {
	fields := strings.Fields(line)
	if len(fields) == 0 || len(fields) > 2 {
		return Score{}, false
	}
	bounded, ok := Number(fields[0])
	if !ok {
		return Score{}, false
	}
	if len(fields) == 1 {
		return Score{bounded, bounded}, true
	}
	unbounded, ok := Number(fields[1])
	return Score{bounded, unbounded}, ok
}

// decimal matches numbers in the usual format.
var decimal = lazyregexp.New(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// special matches numbers that are not finite, in the formats of C, Go and
// Python.
var special = lazyregexp.New(`^[+-]?(?i:inf|infinity|nan)$`)

// Number reads a decimal number, with or without a sign, a fraction and an
// exponent; nan, inf and infinity in any case. An overflowing number is
// infinite.
func Number(s string) (float64, bool) {
	if !decimal().MatchString(s) && !special().MatchString(s) {
		return 0, false
	}
	return parse(s), true
}

// parse converts text that matches a number.
func parse(s string) float64 {
	if special().MatchString(s) {
		s = strings.TrimPrefix(s, "+")
		if strings.EqualFold(s, "-nan") {
			s = "nan"
		}
	}
	n, _ := strconv.ParseFloat(s, 64) // the only possible error is overflow, with an infinite n
	return n
}
