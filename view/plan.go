package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// PlanLine is a node of a plan.
type PlanLine struct {
	Mark  string // "~" stale, "+" new, "!" broken, "=" fresh, "x" error
	Addr  string
	Cause string
}

// CauseCount is the number of nodes of a plan that are stale for a kind of cause.
type CauseCount struct {
	Cause string
	Count int
}

// PlanCount counts the nodes of a plan; the rest of Total is stale.
type PlanCount struct{ Fresh, Unknown, Total int }

// Plan writes the lines of a plan and a summary line, which counts all nodes, with or without lines. An
// estimate of 0 seconds means unknown.
func Plan(w io.Writer, summary PlanSummary, nodes PlanCount, estimateSeconds float64, jobs int, page text.Page) {
	lines := summary.Lines
	palette := text.NewPalette(page.Color)
	out := bufio.NewWriter(w)
	defer out.Flush()

	// A pass for the width first: plans of a million lines are printed from
	// the lines themselves, not from a copy.
	width := 0
	for _, l := range lines {
		width = max(width, text.Width(text.Line(l.Addr, 0)))
	}
	for _, l := range lines {
		line := text.Pad(text.Line(l.Addr, 0), width) + "  " + text.Line(l.Cause, 0)
		line = paintMark(palette, l.Mark) + " " + strings.TrimRight(line, " ")
		fmt.Fprintln(out, text.Hang(line, page.Width))
	}
	fmt.Fprintln(out, palette.Quiet(fmt.Sprintf("= %d fresh", nodes.Fresh)))
	unknown := ""
	if nodes.Unknown > 0 {
		unknown = fmt.Sprintf(" and %d unknown", nodes.Unknown)
	}
	sum := fmt.Sprintf("%d stale%s of %d.", nodes.Total-nodes.Fresh-nodes.Unknown, unknown, nodes.Total)
	var units []string
	if summary.Checkpoints > 0 {
		units = append(units, text.Count(summary.Checkpoints, "checkpoint")+" to judge")
	}
	if summary.Tasks > 0 {
		units = append(units, text.Count(summary.Tasks, "task")+" to run")
	}
	if len(units) > 0 {
		fmt.Fprintln(out, text.Hang(strings.Join(units, ", ")+"."+byCause(summary.Causes), page.Width))
	} else {
		sum += byCause(summary.Causes)
	}
	if estimateSeconds > 0 {
		sum += fmt.Sprintf(" About %s at -j%d (from earlier runs).", text.Duration(estimateSeconds), jobs)
	}
	fmt.Fprintln(out, text.Hang(sum+" Nothing was changed.", page.Width))
}

// byCause returns " By cause: 2 tests, 1 new.", and "" without causes.
func byCause(causes []CauseCount) string {
	if len(causes) == 0 {
		return ""
	}
	var parts []string
	for _, c := range causes {
		parts = append(parts, fmt.Sprintf("%d %s", c.Count, text.Line(c.Cause, 0)))
	}
	return fmt.Sprintf(" By cause: %s.", strings.Join(parts, ", "))
}

func paintMark(p text.Palette, mark string) string {
	switch mark {
	case "+":
		return p.Good(mark)
	case "~":
		return p.Doubt(mark)
	case "=":
		return p.Quiet(mark)
	}
	return p.Bad(mark)
}
