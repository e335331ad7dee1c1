package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Unsolved returns r without checkpoints that passed or were scored without a pass rule and still hold, without cells that are
// left empty, and without tasks that are done.
func (r *Results) Unsolved() *Results {
	out := &Results{Schema: r.Schema, Run: r.Run, Cells: []Cell{}, Tasks: r.undone()}
	for _, cell := range r.Cells {
		kept := slices.DeleteFunc(slices.Clone(cell.Checkpoints), func(last Checkpoint) bool {
			now := last.Current()
			return solved(&now)
		})
		if len(kept) > 0 || len(cell.Checkpoints) == 0 {
			cell.Checkpoints = kept
			out.Cells = append(out.Cells, cell)
		}
	}
	return out
}

func solved(c *Checkpoint) bool {
	o := outcomeOf(c)
	return o == verdict.OutcomePassed || o == verdict.OutcomeScored
}

// WriteFailures lists the checkpoints of r that submissions failed, at most limit. Each has its first failing
// test and the first line of that test's message. It returns the number of all such checkpoints.
func WriteFailures(w io.Writer, r *Results, limit int, o Options) (int, error) {
	n, paint := 0, painted(o.Color)
	var b strings.Builder
	for _, row := range rowsOf(r.inOrder(false)) {
		outcome := outcomeOf(row.checkpoint)
		if solved(row.checkpoint) || outcome == verdict.OutcomeBroken || outcome == verdict.OutcomeSkipped {
			continue
		}
		if n++; n > limit {
			continue
		}
		fmt.Fprintf(&b, "%s  %s\n", paint(outcome, strings.ToUpper(word(row.checkpoint))), text.Line(rowName(row, true), 0))
		if said := saidBelow(row, tableNote); said != "" {
			fmt.Fprintf(&b, "  %s\n", o.Line(text.Cut(said, 400), 2))
		}
	}
	_, err := io.WriteString(w, b.String())
	return n, err
}

// firstSaid returns the first failing test of a checkpoint and its message, or why the checkpoint was not
// judged.
func firstSaid(r row) string { return saidBelow(r, note) }

// saidBelow returns the same as firstSaid, for use below a line that shows the verdict, if note leaves that
// out.
func saidBelow(r row, note func(row) string) string {
	name, t := firstFailing(r.checkpoint)
	if t == nil || r.checkpoint.Class != verdict.Judged {
		return note(r)
	}
	if said := testError(t); said != "" {
		name += ": " + said
	}
	return name
}

// testError returns the line of a failing test's message that describes the error: pytest marks it with E,
// below the source that it shows.
func testError(t *Test) string {
	message := messageOr(t.Message, "")
	for line := range strings.Lines(message) {
		if said, ok := strings.CutPrefix(line, "E  "); ok {
			return strings.TrimSpace(said)
		}
	}
	return text.FirstLine(message)
}

// rowName names a checkpoint as selectors do: problem/checkpoint/solution, followed by @backend if backend is
// set.
func rowName(r row, backend bool) string {
	if r.task != nil {
		return r.task.Address()
	}
	name := r.cell.Problem
	if r.checkpoint.Name != "" {
		name += "/" + r.checkpoint.Name
	}
	name += "/" + r.cell.Solution
	if backend {
		name += "@" + r.cell.Backend
	}
	if r.cell.Repeat > 1 {
		name += fmt.Sprintf("#%d", r.cell.Repeat)
	}
	return name
}
