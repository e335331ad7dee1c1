package score

import (
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Line reads one or two numbers that stand on a line with nothing else.
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

// decimal is a number as nearly every program writes it.
var decimal = lazyregexp.New(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// special matches a number that is not finite, as C, Go and Python write it.
var special = lazyregexp.New(`^[+-]?(?i:inf|infinity|nan)$`)

// Number reads a decimal number, with or without a sign, a fraction and an
// exponent; nan, inf and infinity in any case. A number that is too
// large is infinite.
func Number(s string) (float64, bool) {
	if !decimal().MatchString(s) && !special().MatchString(s) {
		return 0, false
	}
	return parse(s), true
}

// parse reads what is known to be a number.
func parse(s string) float64 {
	if special().MatchString(s) {
		s = strings.TrimPrefix(s, "+")
		if strings.EqualFold(s, "-nan") {
			s = "nan"
		}
	}
	n, _ := strconv.ParseFloat(s, 64) // its only error left is that n is infinite
	return n
}
