package judge

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Rules says how a checker's or interactor's words become a ratio. Without a
// Dialect, nothing that a solution prints can count.
type Rules struct {
	Name    string // in keys
	Dialect Dialect
}

// Dialect is how another judge reads the words of programs.
type Dialect interface {
	// Output is a solution's output as its checker reads it.
	Output(content []byte) []byte
	// Ratios reads what a program said that ended cleanly or not, by a signal
	// unless that is empty. A solution that did not end cleanly is read in place
	// of its checker or interactor. The message is for people.
	Ratios(clean bool, said, signal string) (ratio, unbounded float64, message string)
}

// read is a verdict of the dialect's.
func (r Rules) read(verdict string, clean bool, said, signal string) Verdict {
	ratio, unbounded, message := r.Dialect.Ratios(clean, said, signal)
	return Verdict{Verdict: verdict, Ratio: number(ratio), RatioUnbounded: number(unbounded), Message: readable([]byte(message))}
}

// Exit codes of checkers and interactors, as testlib has them.
const (
	exitOK           = 0
	exitWrong        = 1
	exitPresentation = 2
	exitDirt         = 4
	exitPoints       = 7
	exitEOF          = 8
)

// numeral is a number as printf writes it; a full stop may follow it. One with a decimal
// comma, as in some locales, is found as a whole, and is no number.
const numeral = `([-+]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:nan|inf)\b)`

var (
	ratioWord     = lazyregexp.New(`Ratio: ` + numeral)
	unboundedWord = lazyregexp.New(`RatioUnbounded: ` + numeral)
	pointsWord    = lazyregexp.New(`^points ` + numeral)
	partially     = lazyregexp.New(`^partially correct \([0-9]+\)`)
)

// judged reads the verdict of a checker or interactor from how it ended and what it
// said. One that crashes, or whose number is none, does so on what this solution printed,
// which earns nothing: no solution may choose to have no score. An error is a
// *failedError: its points are no ratio, whatever the solution does, or it reached the
// limit of time from start to end, which may be a busy machine's doing.
func judged(e end, said string) (Verdict, error) {
	failed := func(why string) *failedError {
		if said != "" {
			why += ": " + said
		}
		return &failedError{why}
	}
	none := func(why string) (Verdict, error) { return failedWith(CheckerFailed, failed(why).Error()), nil }
	v := Verdict{Verdict: WrongAnswer, Message: said}
	switch {
	case e.Status == backend.ClockLimit:
		return Verdict{}, failed(e.String())
	case partially().MatchString(said): // testlib prints it first, and its exit code is that of others
		return Verdict{}, failed("it gave points with quitf(_pc(...)), which says of how many nowhere; quitp gives a ratio")
	case !e.usable():
		return none(e.String())
	}
	earned := 0.0
	switch e.Code {
	case exitOK:
		v.Verdict, earned = Accepted, 1
		if ratios := numbers(ratioWord(), said); ratios != nil {
			if earned = least(ratios); math.IsInf(earned, 0) {
				return none("its ratio is not a number")
			}
		}
	case exitPresentation, exitDirt, exitEOF:
		v.Verdict = PresentationError
	case exitPoints:
		v.Verdict = Points
		var why string
		if earned, why = pointsOf(said); math.IsNaN(earned) {
			return none(why)
		} else if why != "" {
			return Verdict{}, failed(why)
		}
	}
	earned = max(earned, 0)
	unbounded := earned
	if e.Code == exitOK || e.Code == exitPoints {
		// Infinity is a way to say that there is no such ratio.
		if n := least(numbers(unboundedWord(), said)); !math.IsInf(n, 0) {
			unbounded = max(n, 0)
		}
		switch earned = min(earned, 1); {
		case earned == 1:
			v.Verdict = Accepted
		case earned > 0:
			v.Verdict = Points
		}
	}
	v.Ratio, v.RatioUnbounded = &earned, &unbounded
	return v, nil
}

// pointsOf is the ratio that a checker gives with points, or why there is none, and
// NaN if it gave what is no number. What
// testlib prints first is the checker's own; the ratio that it prints for people counts
// when it is that number rounded. Checkers quote what solutions print, so that any other
// ratio may be a solution's.
func pointsOf(said string) (ratio float64, why string) {
	ratios := numbers(ratioWord(), said)
	word := pointsWord().FindStringSubmatch(said)
	if word == nil { // no testlib
		switch ratio = least(ratios); {
		case ratios == nil:
			return 0, `it gave points and said neither "Ratio: " nor "points "`
		case math.IsInf(ratio, 0):
			return math.NaN(), "its ratio is not a number"
		}
		return ratio, ""
	}
	points, err := strconv.ParseFloat(word[1], 64)
	if err != nil || math.IsNaN(points) || math.IsInf(points, 0) {
		return math.NaN(), fmt.Sprintf("it gave %q points, which is not a number", word[1])
	}
	const rounding = 0.51e-3 // of a ratio with three decimals, the fewest that checkers print
	agreed := false
	for _, r := range ratios {
		if math.Abs(r-points) <= rounding && (!agreed || math.Abs(r-points) < math.Abs(ratio-points)) {
			ratio, agreed = r, true
		}
	}
	switch {
	case agreed:
		return ratio, ""
	case points > 1:
		return 0, fmt.Sprintf("it gave %s points, which is no ratio from 0 to 1", word[1])
	}
	return points, ""
}

// numbers are those that follow a word wherever it stands. What is no number, or too
// large to be one, is infinity.
func numbers(word *regexp.Regexp, said string) []float64 {
	var found []float64
	for _, m := range word.FindAllStringSubmatch(said, -1) {
		if n, err := strconv.ParseFloat(m[1], 64); err == nil && !math.IsNaN(n) {
			found = append(found, n)
		} else {
			found = append(found, math.Inf(1))
		}
	}
	return found
}

// least is the lowest of numbers, and infinity when there is none: what a solution has
// a checker quote can then only cost it something.
func least(numbers []float64) float64 {
	lowest := math.Inf(1)
	for _, n := range numbers {
		lowest = min(lowest, n)
	}
	return lowest
}

// usable reports whether a checker or interactor gave a verdict.
func (e end) usable() bool {
	if e.Status != "exited" {
		return false
	}
	switch e.Code {
	case exitOK, exitWrong, exitPresentation, exitDirt, exitPoints, exitEOF:
		return true
	}
	return false
}

// number is nil for what JSON has no number for.
func number(n float64) *float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}
