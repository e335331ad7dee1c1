// Package pyjson formats values like Python's json module where that differs from Go or goes beyond JSON: the
// words NaN, Infinity and -Infinity, and numbers as their repr. It does not decode: Quote makes a text that
// encoding/json can read.
package pyjson

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// prefix marks a string that represents a number which JSON lacks. It does not occur in files by chance.
const prefix = "\x00number:"

// words are Python's words for numbers that JSON lacks.
var words = []string{"NaN", "-Infinity", "Infinity"}

// Quote replaces Python's words for numbers in JSON with strings for Word. Everything else, even invalid JSON,
// stays.
func Quote(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	var out bytes.Buffer
	inside := false // in a string
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inside && c == '\\' && i+1 < len(text):
			out.WriteByte(c)
			i++
			c = text[i]
		case c == '"':
			inside = !inside
		case !inside:
			if word := wordAt(text[i:]); word != "" {
				out.WriteString(`"\u0000number:` + word + `"`)
				i += len(word) - 1
				continue
			}
		}
		out.WriteByte(c)
	}
	return out.Bytes()
}

func wordAt(text []byte) string {
	for _, word := range words {
		if bytes.HasPrefix(text, []byte(word)) {
			return word
		}
	}
	return ""
}

// Word returns the word that a decoded string represents.
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
