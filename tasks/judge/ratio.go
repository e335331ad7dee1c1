package judge

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
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

// numeral is a number as printf writes it; a full stop may follow it.
const numeral = `([-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:nan|inf)\b)`

var (
	ratioWord     = regexp.MustCompile(`Ratio: ` + numeral)
	unboundedWord = regexp.MustCompile(`RatioUnbounded: ` + numeral)
	pointsWord    = regexp.MustCompile(`^points ` + numeral)
)

// judged reads the verdict of a checker or interactor that ended by itself, from
// its exit code and what it said. An error is a *failedError: that is none.
func judged(e end, said string) (Verdict, error) {
	none := func(why string) (Verdict, error) {
		if said != "" {
			why += ": " + said
		}
		return Verdict{}, &failedError{why}
	}
	v, earned := Verdict{Verdict: WrongAnswer, Message: said}, 0.0
	if !e.usable() {
		return none(e.String())
	}
	switch e.Code {
	case exitOK:
		v.Verdict, earned = Accepted, 1
	case exitPresentation, exitDirt, exitEOF:
		v.Verdict = PresentationError
	case exitPoints:
		v.Verdict = Points
	}
	switch word := ratioWord.FindStringSubmatch(said); {
	case word != nil:
		n, err := strconv.ParseFloat(word[1], 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return none(fmt.Sprintf("its ratio %q is not a number", word[1]))
		}
		earned = max(n, 0)
		switch {
		case earned == 1:
			v.Verdict = Accepted
		case earned > 0:
			v.Verdict = Points
		}
	case e.Code == exitPoints:
		points := pointsWord.FindStringSubmatch(said)
		if points == nil {
			return none(`it gave points and said neither "Ratio: " nor "points "`)
		}
		n, err := strconv.ParseFloat(points[1], 64)
		if err != nil || !(n >= 0 && n <= 1) {
			return none(fmt.Sprintf("it gave %s points, which is no ratio from 0 to 1", points[1]))
		}
		if earned = n; earned == 1 {
			v.Verdict = Accepted
		}
	}
	unbounded := earned
	if word := unboundedWord.FindStringSubmatch(said); word != nil {
		// Infinity is a way to say that there is no such ratio.
		if n, err := strconv.ParseFloat(word[1], 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			unbounded = max(n, 0)
		}
	}
	v.Ratio, v.RatioUnbounded = &earned, &unbounded
	return v, nil
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
