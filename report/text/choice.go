package text

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// Unknown returns the error for a word that is not among the known ones. It lists them and suggests the
// nearest:
//
//	unknown policy "core-case": did you mean "core-cases"? known are core-cases, any
func Unknown(kind, got string, known []string) error {
	hint := ""
	if best := Nearest(got, known); best != "" {
		hint = fmt.Sprintf("did you mean %q? ", best)
	}
	return fmt.Errorf("unknown %s %q: %sknown are %s", kind, got, hint, strings.Join(known, ", "))
}

// Nearest returns the known word that was probably meant, or "".
func Nearest(got string, known []string) (best string) {
	distance := len(got)/3 + 2 // beyond this number of edits, it is another word
	for _, k := range known {
		if d := levenshtein.Distance(strings.ToLower(got), strings.ToLower(k), nil); d < distance {
			best, distance = k, d
		}
	}
	return best
}
