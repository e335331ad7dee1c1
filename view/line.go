package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// messageLines limits the shown lines of a node's message; the rest is in its log.
const messageLines = 12

// lines formats single events for the plain view and for the part of the live view above its bar.
type lines struct {
	palette text.Palette
	verbose bool
	width   int
}

// briefWork is a duration that users do not notice: shorter nodes are only counted, unless verbose is set.
const briefWork = 0.1 // seconds

// hiddenKinds lists kinds of work that a verdict soon includes; they have no line either.
var hiddenKinds = []string{"materialize", "tests", "submission", "parse", "aggregate", "testdata", "run", "check", "interact", "submit", "score", "workspace", "input"}

// worthALine reports whether a final state has a separate line. ran reports whether the node's work had
// begun: nodes that an interrupt prevented are only counted, and blocked nodes are covered by the line of
// the blocking one.
func (l lines) worthALine(e event.NodeDone, ran bool) bool {
	switch e.State {
	case event.Cached:
		return false
	case event.Interrupted:
		return ran || l.verbose
	case event.Blocked:
		return l.verbose
	case event.Done:
		return l.verbose || e.Seconds >= briefWork && !judges(e.Kind) && !slices.Contains(hiddenKinds, e.Kind)
	}
	return true
}

// judges reports whether a verdict directly follows the work of a kind, so that both share a line.
func judges(kind string) bool { return kind == "pytest" || kind == "command" || kind == "verify" }

// needsAttention reports whether a final state needs attention.
func needsAttention(s event.State) bool {
	switch s {
	case event.Failed, event.Broken, event.Timeout, event.Blocked, event.Skipped:
		return true
	}
	return false
}

// endLine returns the line of a node's end, with its message below after a failure:
//
//	12.3s   4/27  BROKEN      kvstore/basics…  1.2s  (asset "fixtures" changed)
//	              connection refused
func (l lines) endLine(prefix string, e event.NodeDone) string {
	word := string(e.State)
	switch e.State {
	case event.Failed, event.Timeout:
		word = l.palette.Bad(strings.ToUpper(word))
	case event.Broken, event.Blocked, event.Skipped:
		word = l.palette.Doubt(strings.ToUpper(word))
	case event.Done:
		word = l.palette.Good(word)
	}
	out := l.head(prefix, word, e.Addr)
	if e.State != event.Blocked {
		out += l.durationAndCause(out, &e)
	} else if e.Cause != "" { // its culprit
		out += "  " + l.palette.Quiet(l.cut(text.Line(e.Cause, 0), text.Width(out)+2))
	}
	out += "\n"
	if needsAttention(e.State) && e.Message != "" && e.Message != e.Cause {
		out += l.message(e.Addr, e.Message, max(text.Width(prefix), 4))
	}
	return out
}

// isGood reports whether a verdict is a success.
func isGood(e event.Verdict) bool { return e.Outcome == "passed" || e.Outcome == "scored" }

// verdict returns the line of a verdict, with the name of the graded checkpoint, and with the duration and
// the cause of the work, unless that had a line already:
//
//	12.3s   5/27  FAILED      kvstore/basics/agent@local.host  core 0/1, functionality 2/2  1.2s  (never ran)
func (l lines) verdict(prefix string, e event.Verdict, work *event.NodeDone) string {
	word, detail := e.Outcome, e.Detail
	if word == "errored" { // and the figures are the class
		word, detail = strings.ReplaceAll(e.Class, "_", " "), ""
	} else if e.Class == string(verdict.SessionTimeout) {
		word = e.Class
	}
	if isGood(e) {
		word = l.palette.Good(word)
	} else {
		word = l.palette.Bad(strings.ToUpper(word))
	}
	_, name, _ := strings.Cut(e.Addr, ":")
	out := l.head(prefix, word, name)
	if detail != "" {
		out += "  " + l.cut(text.Line(detail, 0), text.Width(out)+2)
	}
	if work != nil {
		out += l.durationAndCause(out, work)
	}
	return out + "\n"
}

// durationAndCause returns the duration of work and, if the line has room, its cause.
func (l lines) durationAndCause(before string, e *event.NodeDone) string {
	duration := "  " + text.Duration(e.Seconds)
	const fewest = 10 // minimum columns of a useful cause
	if room := l.width - text.Width(before+duration) - 4; e.Cause != "" && (l.verbose || l.width == 0 || room >= fewest) {
		return duration + "  " + l.palette.Quiet("("+l.cutTo(text.Line(e.Cause, 0), room)+")")
	}
	return duration
}

// head returns the beginning of each line: the event and the node.
func (l lines) head(prefix, word, addr string) string {
	return prefix + text.Pad(word, len("interrupted")) + " " + text.Line(addr, 0)
}

// start returns the line of work that begins.
func (l lines) start(prefix string, e event.NodeStart) string {
	return l.head(prefix, "start", e.Addr) + "\n"
}

// retry returns the line of an attempt that broke.
func (l lines) retry(prefix string, e event.NodeRetry) string {
	what := fmt.Sprintf("attempt %d broke, next in %s", e.Attempt, text.Duration(e.Wait))
	if e.Preempted {
		what = "preempted, runs again"
	}
	out := fmt.Sprintf("%s  %s: ", l.head(prefix, l.palette.Doubt("retry"), e.Addr), what)
	return out + l.cut(text.Line(e.Reason, 0), text.Width(out)) + "\n"
}

// note returns the line of a note. It can contain a command, so it is never cut.
func (l lines) note(prefix string, e event.NodeNote) string {
	margin := strings.Repeat(" ", max(text.Width(prefix), 4))
	return l.head(prefix, l.palette.Quiet("note"), e.Addr) + "\n" + margin + text.Line(e.Text, 0) + "\n"
}

// message indents m, cut to messageLines unless verbose.
func (l lines) message(addr, m string, indent int) string {
	margin := strings.Repeat(" ", indent)
	all := strings.Split(strings.TrimRight(text.Block(m), "\n"), "\n")
	shown := all
	if !l.verbose && len(all) > messageLines {
		shown = all[:messageLines]
	}
	var b strings.Builder
	for _, line := range shown {
		b.WriteString(strings.TrimRight(margin+l.cut(line, indent), " ") + "\n")
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(&b, "%s%s\n", margin, l.palette.Quiet(fmt.Sprintf(
			"%s %s, see: fevalgraph log '%s'", text.Ellipsis, text.Count(more, "more line"), text.Line(addr, 0))))
	}
	return b.String()
}

// cut shortens s, which begins at column, to the width. A line of a megabyte is cut even without a width.
func (l lines) cut(s string, column int) string {
	return l.cutTo(s, max(l.width-column, 20))
}

// cutTo shortens s to a number of columns, unless the width is unlimited.
func (l lines) cutTo(s string, columns int) string {
	switch {
	case l.verbose:
		return s
	case l.width == 0:
		columns = 1000
	}
	return text.Cut(s, columns)
}
