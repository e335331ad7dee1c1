package lang

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// nearest returns the candidate that the user probably meant by name, or "".
func nearest(name string, candidates []string) string {
	best, distance := "", 3 // maximum of two edits
	if len(name) <= 3 {
		distance = 2
	}
	for _, c := range candidates {
		if strings.EqualFold(c, name) {
			return c
		}
		if d := levenshtein.Distance(name, c, nil); d < distance && d < len(name) {
			best, distance = c, d
		}
	}
	for _, c := range candidates {
		if best == "" && (isStem(c, name) || isStem(name, c)) { // entry and entrypoint
			best = c
		}
	}
	return best
}

// isStem reports whether a longer name begins with the shorter one.
func isStem(stem, name string) bool { return len(stem) > 3 && strings.HasPrefix(name, stem) }

// didYouMean returns a hint that names the nearest candidate, or else lists the candidates. prefix precedes
// each, as in "problem.".
func didYouMean(name string, candidates []string, prefix string) string {
	if c := nearest(name, candidates); c != "" {
		return "did you mean " + prefix + c + "?"
	}
	if len(candidates) == 0 {
		return ""
	}
	candidates = slices.Clone(candidates)
	slices.Sort(candidates)
	more := ""
	if len(candidates) > 12 {
		candidates, more = candidates[:12], " …"
	}
	for i := range candidates {
		candidates[i] = prefix + candidates[i]
	}
	return "known: " + strings.Join(candidates, ", ") + more
}
