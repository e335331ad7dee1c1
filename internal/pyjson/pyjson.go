// Package pyjson reads and writes JSON as Python's json module does, where that differs from Go or goes beyond JSON:
// the words NaN, Infinity and -Infinity, and numbers as their repr. A Reader reads files of any length value by value,
// keeps one value in memory, and has errors with locations.
package pyjson

import (
	"math"
	"strconv"
	"strings"
)

// prefix marks a text that represents a number which JSON lacks. It does not occur in files by chance.
const prefix = "\x00number:"

func quoted(word string) string { return `"\u0000` + prefix[1:] + word + `"` }

// Word returns the word that a text decoded with Options.Exact represents.
func Word(s string) (word string, ok bool) { return strings.CutPrefix(s, prefix) }

// Float returns Python's repr of a float: the fewest digits that parse back to f, always with a point or an
// exponent, which is used from 1e16 up and below 1e-4; nan, inf and -inf for other values.
func Float(f float64) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'f', -1, 64)), "+")
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
