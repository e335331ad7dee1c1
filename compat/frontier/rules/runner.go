package rules

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Runner implements score.Dialect.
type Runner struct{}

// timeout is the exit code of timeout(1) when its limit is over. The runner
// believes it of any program.
const timeout = 124

// TimedOut reports whether an exit code says that a limit was over.
func (Runner) TimedOut(code int) bool { return code == timeout }

// Text returns an output without the space around it.
func (Runner) Text(output string) string { return strings.TrimFunc(output, pythonSpace) }

// Line reads the score on a line: lines that begin with "[" or hold INFO or ERROR
// have none; a first word that Python's float takes is the score; a second one
// must be a number as well and is the unbounded score; further ones are ignored.
func (Runner) Line(line string) (bounded, unbounded float64, ok bool) {
	line = strings.TrimFunc(line, pythonSpace)
	if strings.HasPrefix(line, "[") || strings.Contains(line, "INFO") || strings.Contains(line, "ERROR") {
		return 0, 0, false
	}
	fields := strings.FieldsFunc(line, pythonSpace)
	if len(fields) == 0 {
		return 0, 0, false
	}
	if bounded, ok = pythonFloat(fields[0]); !ok || len(fields) == 1 {
		return bounded, bounded, ok
	}
	unbounded, ok = pythonFloat(fields[1])
	return bounded, unbounded, ok
}

// Reason returns the message of a program without a score: the first line of its output that contains Error
// or ERROR, unchanged.
func (Runner) Reason(stdout, stderr []byte) string {
	for line := range strings.SplitSeq(textMode.Replace(strings.ToValidUTF8(string(stdout)+"\n"+string(stderr), "\uFFFD")), "\n") {
		if strings.Contains(line, "Error") || strings.Contains(line, "ERROR") {
			return line
		}
	}
	return "Could not parse score from output"
}

// textMode has the line ends of a text as Python's text mode reads them.
var textMode = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Numbers of Python's, their digits already ASCII: single underscores can stand
// between two of them.
var (
	pythonDecimal = lazyregexp.New(strings.ReplaceAll(`^[+-]?(?:D\.?D?|\.D)(?:[eE][+-]?D)?$`, "D", `(?:[0-9](?:_?[0-9])*)`))
	pythonNaN     = lazyregexp.New(`^[+-]?(?i:nan)$`)
	pythonInf     = lazyregexp.New(`^[+-]?(?i:inf|infinity)$`)
)

// pythonFloat parses a word as Python's float() does.
func pythonFloat(s string) (float64, bool) {
	s, ok := asciiDigits(s)
	switch {
	case !ok:
		return 0, false
	case pythonNaN().MatchString(s):
		return math.NaN(), true
	case !pythonDecimal().MatchString(s) && !pythonInf().MatchString(s):
		return 0, false
	}
	n, _ := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64) // its only error left is that n is infinite
	return n, true
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

// pythonSpace reports whether str.isspace is true of a character.
func pythonSpace(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }
