package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Rules specifies how a ratio is read from the messages of a checker or interactor. Without a Dialect, the
// output of a solution never counts.
type Rules struct {
	Name    string // in keys
	Dialect Dialect
}

// Dialect reads the output of programs like another judge.
type Dialect interface {
	// Output returns a solution's output in the form that its checker reads.
	Output(content []byte) []byte
	// Ratios reads the messages of a program, given whether it ended cleanly, and the signal that ended it, if
	// any. If a solution did not end cleanly, its messages are read instead of the checker's or interactor's.
	// The returned message is for users.
	Ratios(clean bool, said, signal string) (ratio, unbounded float64, message string)
}

// read returns a verdict in the dialect.
func (r Rules) read(verdict string, clean bool, said, signal string) Verdict {
	ratio, unbounded, message := r.Dialect.Ratios(clean, said, signal)
	return Verdict{Verdict: verdict, Ratio: number(ratio), RatioUnbounded: number(unbounded), Message: readable([]byte(message))}
}

// readTool returns the dialect's verdict by a checker or interactor.
func (r Rules) readTool(e end, said []byte) Verdict {
	v := r.read(wordFor(e), e.clean(), string(said), "")
	if v.Verdict == CheckerFailed {
		v = v.explained(e.String())
	}
	return v
}

// explained returns v with a message, unless it has one.
func (v Verdict) explained(why string) Verdict {
	v.Message = cmp.Or(v.Message, why)
	return v
}

// Exit codes of checkers and interactors, defined by testlib.
const (
	exitOK           = 0
	exitWrong        = 1
	exitPresentation = 2
	exitDirt         = 4
	exitPoints       = 7
	exitEOF          = 8
)

// numeral matches a number as printf writes it; a full stop can follow it. A number with a decimal comma, as
// in some locales, matches as a whole, and is not a number.
const numeral = `([-+]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:nan|inf)\b)`

var (
	// Only an unbounded ratio directly after a ratio belongs to it: a remark in brackets
	// can stand between them, a quote cannot.
	ratioWord  = lazyregexp.New(`Ratio: ` + numeral + `(?:[\s,;.]*(?:\([^()'"]*\)[\s,;.]*)?RatioUnbounded: ` + numeral + `)?`)
	pointsWord = lazyregexp.New(`^points ` + numeral)
	loneWord   = lazyregexp.New(`^(?:ok |points ` + numeral + ` )?RatioUnbounded: ` + numeral)
	partially  = lazyregexp.New(`^partially correct \([0-9]+\)`)
)

// judged reads the verdict of a checker or interactor from its ending and its whole output; only
// the message is shortened. If it crashes or prints an invalid number, the solution's output caused
// that and earns 0: no solution can choose to have no score. An error is a *failedError: the points
// are not a ratio, whatever the solution does, or the wall-clock limit was reached, which a busy
// machine can cause.
func judged(e end, printed []byte) (Verdict, error) {
	said := text(printed)
	v := Verdict{Verdict: WrongAnswer, Message: shorten(said)}
	failed := func(why string) *failedError {
		if said != "" {
			why += ": " + v.Message
		}
		return &failedError{why}
	}
	none := func(why string) (Verdict, error) { return failedWith(CheckerFailed, failed(why).Error()), nil }
	switch {
	case e.Status == backend.ClockLimit:
		return Verdict{}, failed(e.String())
	case partially().MatchString(said): // testlib prints it first, and its exit code is that of others
		return Verdict{}, failed("it gave points by quitf(_pc(...)), without a maximum (hint: use quitp, which gives a ratio)")
	case !e.usable():
		return none(e.String())
	}
	earned, unbounded := 0.0, 0.0
	switch e.Code {
	case exitOK, exitPoints:
		stated, why := statements(said, e.Code == exitPoints)
		switch {
		case why != "":
			return Verdict{}, failed(why)
		case stated == nil:
			stated = []statement{{1, lone(said, 1)}}
		}
		earned, unbounded = lowest(stated)
		if math.IsInf(earned, 0) {
			return none("its ratio is not a number")
		}
		earned, unbounded = min(max(earned, 0), 1), max(unbounded, 0)
		v.Verdict = Points
		if earned == 1 || earned == 0 && e.Code == exitOK {
			v.Verdict = Accepted
		}
	case exitPresentation, exitDirt, exitEOF:
		v.Verdict = PresentationError
	}
	v.Ratio, v.RatioUnbounded = &earned, &unbounded
	return v, nil
}

// statement pairs a ratio in a message with its unbounded ratio.
type statement struct{ ratio, unbounded float64 }

// statements returns the ratios in a message. The number that testlib prints first with points is
// included, unless a ratio is that number rounded. why is set if the checker gave points that are not a
// ratio, and no other ratio.
func statements(said string, points bool) (stated []statement, why string) {
	for _, m := range ratioWord().FindAllStringSubmatch(said, -1) {
		r := value(m[1])
		u := value(m[2])
		if math.IsInf(u, 0) { // means that it has none
			u = r
		}
		stated = append(stated, statement{r, u})
	}
	if !points {
		return stated, ""
	}
	word := pointsWord().FindStringSubmatch(said)
	if word == nil { // not testlib
		if stated == nil {
			return nil, `it gave points but printed neither "Ratio: " nor "points "`
		}
		return stated, ""
	}
	p := value(word[1])
	const rounding = 0.51e-3 // of a ratio with three decimals, the minimum that checkers print
	rounded := func(s statement) bool { return math.Abs(s.ratio-p) <= rounding }
	switch {
	case slices.ContainsFunc(stated, rounded):
	case p <= 1 || math.IsInf(p, 0):
		stated = append(stated, statement{p, lone(said, p)})
	case stated == nil:
		return nil, fmt.Sprintf("it gave %s points, which is not a ratio from 0 to 1", word[1])
	}
	return stated, ""
}

// lowest returns the lowest numbers of statements, since a checker can quote the solution: a quote
// can then only lower the score. It ignores statements with an invalid ratio and returns infinity
// if no others exist.
func lowest(stated []statement) (ratio, unbounded float64) {
	ratio, unbounded = math.Inf(1), math.Inf(1)
	for _, s := range stated {
		if !math.IsInf(s.ratio, 0) {
			ratio, unbounded = min(ratio, s.ratio), min(unbounded, s.unbounded)
		}
	}
	return ratio, unbounded
}

// lone returns the unbounded ratio of a message that begins with it, or otherwise.
func lone(said string, otherwise float64) float64 {
	if word := loneWord().FindStringSubmatch(said); word != nil && !math.IsInf(value(word[2]), 0) {
		return value(word[2])
	}
	return otherwise
}

// value parses a numeral. Unparsable or overflowing numerals become +Inf.
func value(numeral string) float64 {
	n, err := strconv.ParseFloat(numeral, 64)
	if err != nil || math.IsNaN(n) {
		return math.Inf(1)
	}
	return n
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

// number returns nil for a number that JSON cannot represent.
func number(n float64) *float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}
