package score

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
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
var decimal = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// special is what is no finite number, as C, Go and Python write it.
var special = regexp.MustCompile(`^[+-]?(?i:inf|infinity|nan)$`)

// Number reads a decimal number, with or without a sign, a fraction and an
// exponent; nan, inf and infinity in any case. One that is too large is
// infinite.
func Number(s string) (float64, bool) {
	if !decimal.MatchString(s) && !special.MatchString(s) {
		return 0, false
	}
	return parse(s), true
}

// parse reads what is known to be a number.
func parse(s string) float64 {
	if special.MatchString(s) {
		s = strings.TrimPrefix(s, "+")
		if strings.EqualFold(s, "-nan") {
			s = "nan"
		}
	}
	n, _ := strconv.ParseFloat(s, 64) // its only error left is that n is infinite
	return n
}

// FrontierLine reads a line as Frontier-CS's runner for research problems does:
// lines that begin with "[" or hold INFO or ERROR are none; a first word that
// Python's float takes is the score; a second one must be a number as well and
// is the unbounded score; further ones do not matter.
func FrontierLine(line string) (Score, bool) {
	line = strings.TrimFunc(line, pythonSpace)
	if strings.HasPrefix(line, "[") || strings.Contains(line, "INFO") || strings.Contains(line, "ERROR") {
		return Score{}, false
	}
	fields := strings.FieldsFunc(line, pythonSpace)
	if len(fields) == 0 {
		return Score{}, false
	}
	bounded, ok := pythonFloat(fields[0])
	if !ok {
		return Score{}, false
	}
	if len(fields) == 1 {
		return Score{bounded, bounded}, true
	}
	unbounded, ok := pythonFloat(fields[1])
	return Score{bounded, unbounded}, ok
}

// pythonDecimal is a number of Python's, its digits already ASCII: single
// underscores may stand between two of them.
var pythonDecimal = regexp.MustCompile(strings.ReplaceAll(`^[+-]?(?:D\.?D?|\.D)(?:[eE][+-]?D)?$`, "D", `(?:[0-9](?:_?[0-9])*)`))

// pythonFloat is Python's float() of a word.
func pythonFloat(s string) (float64, bool) {
	s, ok := asciiDigits(s)
	if !ok {
		return 0, false
	}
	if !pythonDecimal.MatchString(s) && !special.MatchString(s) {
		return 0, false
	}
	return parse(strings.ReplaceAll(s, "_", "")), true
}

// asciiDigits writes the decimal digits of every script as those of ASCII. It
// reports whether nothing else in s is outside of ASCII.
func asciiDigits(s string) (string, bool) {
	ok := true
	return strings.Map(func(c rune) rune {
		if c < unicode.MaxASCII {
			return c
		}
		for _, r := range unicode.Nd.R16 {
			if uint16(c) >= r.Lo && c <= rune(r.Hi) && c <= 0xFFFF {
				return '0' + (c-rune(r.Lo))%10
			}
		}
		for _, r := range unicode.Nd.R32 {
			if uint32(c) >= r.Lo && uint32(c) <= r.Hi {
				return '0' + (c-rune(r.Lo))%10
			}
		}
		ok = false
		return c
	}, s), ok
}

// pythonSpace is str.isspace of a character.
func pythonSpace(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }
