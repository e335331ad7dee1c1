// Package score reads a score from the outputs of a grader: the last line of numbers that it printed, a
// match of a regular expression, a field of a JSON file, or its exit code.
//
// It does not know processes, backends or results: its inputs are texts, and its results are numbers.
//
//	found, err := score.Rule{From: score.Stdout}.Read(score.Artifacts{Stdout: []byte("loss 0.2\n87.5 91\n")})
//	// found.Bounded is 87.5, found.Unbounded is 91
package score

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Sources of a score.
const (
	Stdout = "stdout"
	Stderr = "stderr"
	Output = "output" // standard output and, after it, standard error
	File   = "file"
	Exit   = "exit" // 100 for exit code 0, otherwise 0
)

// Sources lists the sources of a score.
func Sources() []string { return []string{Stdout, Stderr, Output, File, Exit} }

// Dialect reads the output of graders like another program.
type Dialect interface {
	// Text returns the part of a grader's output with the lines to read.
	Text(output string) string
	// Line reads the score from a line, if it contains one.
	Line(line string) (bounded, unbounded float64, ok bool)
	// Reason is the message of a missing score.
	Reason(stdout, stderr []byte) string
	// TimedOut reports whether a grader's exit code means that it reached a limit.
	TimedOut(code int) bool
}

// Rule specifies the location of a score.
type Rule struct {
	From string // one of Sources
	// Pattern is a regular expression with the group score and optionally the group unbounded. Its last match
	// is used. "" means the last line of numbers.
	Pattern string
	// Marker is the prefix of lines to read; the score is in the text after it. "" selects all lines.
	Marker string
	// Pointer is the JSON pointer (RFC 6901) of the score, and PointerUnbounded that of the unbounded score.
	// They apply only to File, which is read as text if Pointer is "".
	Pointer, PointerUnbounded string
	// Dialect reads lines of numbers; nil means Line. Compat is its name in keys.
	Dialect Dialect
	Compat  string
	// AnyExit accepts a score after any end of the grader. Otherwise the score is missing if a signal ended
	// the grader, or its exit code reports a failure.
	AnyExit bool
}

// Artifacts contains the outputs of a grader.
type Artifacts struct {
	Stdout, Stderr []byte
	File           []byte // nil if missing, see NoFile
	NoFile         string // why File is missing
	Code           int
	Signal         string // signal that ended it; "" if it exited
}

// Score is the score of a grader. A single number counts for both. Either can be infinite or not a number.
type Score struct{ Bounded, Unbounded float64 }

// full is the score for exit code 0.
const full = 100

// Read reads the score. The error is a phrase: "no line of numbers on stdout".
func (r Rule) Read(l Artifacts) (Score, error) {
	switch r.From {
	case Exit:
		if l.Signal != "" {
			return Score{}, fmt.Errorf("no exit code: %s", l.Signal)
		}
		if l.Code == 0 {
			return Score{full, full}, nil
		}
		return Score{}, nil
	case File:
		if l.File == nil {
			return Score{}, errors.New(l.NoFile)
		}
		if r.Pointer != "" {
			return readJSON(l.File, r.Pointer, r.PointerUnbounded)
		}
		return r.text(string(l.File), "in the file")
	case Stderr:
		return r.text(string(l.Stderr), "on stderr")
	case Output:
		return r.text(string(l.Stdout)+"\n"+string(l.Stderr), "on stdout and stderr")
	}
	return r.text(string(l.Stdout), "on stdout")
}

// text reads a score from text. Bytes that are not UTF-8 cannot be part of it.
func (r Rule) text(text, where string) (Score, error) {
	// A progress bar returns to the beginning of its line, so each state of it is a line.
	text = lineEnds.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	if r.Pattern != "" {
		return r.match(text, where)
	}
	parse, what := Line, "no line of numbers "
	if r.Dialect != nil {
		text = r.Dialect.Text(text)
		parse = func(line string) (Score, bool) {
			bounded, unbounded, ok := r.Dialect.Line(line)
			return Score{bounded, unbounded}, ok
		}
	}
	if r.Marker != "" {
		what = fmt.Sprintf("no line of numbers that begins with %q ", r.Marker)
	}
	for line := range backwards(text) {
		rest, marked := strings.CutPrefix(line, r.Marker)
		if !marked {
			continue
		}
		if found, ok := parse(rest); ok {
			return found, nil
		}
	}
	return Score{}, errors.New(what + where)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// match reads the last match of the pattern: in the text or, with a marker, in the last marked line with a
// match.
func (r Rule) match(text, where string) (Score, error) {
	pattern, err := CompilePattern(r.Pattern)
	if err != nil {
		return Score{}, err
	}
	groups := lastMatch(pattern, text)
	if r.Marker != "" {
		groups = nil
		for line := range backwards(text) {
			rest, marked := strings.CutPrefix(line, r.Marker)
			if !marked {
				continue
			}
			if groups = lastMatch(pattern, rest); groups != nil {
				break
			}
		}
	}
	if groups == nil {
		return Score{}, fmt.Errorf("%q matches nothing %s", r.Pattern, where)
	}
	written := groups[pattern.SubexpIndex("score")]
	var found Score
	var ok bool
	if found.Bounded, ok = Number(strings.TrimSpace(written)); !ok {
		return Score{}, fmt.Errorf("the score %s is not a number: %q", where, shorten(written))
	}
	found.Unbounded = found.Bounded
	at := pattern.SubexpIndex("unbounded")
	if at < 0 || groups[at] == "" {
		return found, nil
	}
	if found.Unbounded, ok = Number(strings.TrimSpace(groups[at])); !ok {
		return Score{}, fmt.Errorf("the unbounded score %s is not a number: %q", where, shorten(groups[at]))
	}
	return found, nil
}

// CompilePattern compiles a pattern and checks that it has the group score.
func CompilePattern(pattern string) (*regexp.Regexp, error) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if compiled.SubexpIndex("score") < 0 {
		return nil, errors.New("the pattern has no group named score: (?P<score>…)")
	}
	return compiled, nil
}

func lastMatch(pattern *regexp.Regexp, text string) []string {
	all := pattern.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// backwards yields the lines of a text from the last to the first, without
// their ends.
func backwards(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			at := strings.LastIndexByte(text, '\n')
			if !yield(text[at+1:]) || at < 0 {
				return
			}
			text = text[:at]
		}
	}
}

// shorten shortens a text to fit into a message.
func shorten(s string) string { return shortenTo(s, 80) }
