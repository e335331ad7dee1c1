package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// PlanLine is one node of a plan. What a node does not have is empty: assets
// and tests belong to no solution.
type PlanLine struct {
	Mark                                   string // "~" stale, "+" new, "!" broken, "=" fresh, "x" error
	Kind                                   string
	Problem, Checkpoint, Solution, Backend string
	File                                   string // the test file that it is about, if it is one
	Addr                                   string
	Cause                                  string
}

// CauseCount is how many nodes of a plan one kind of cause makes stale.
type CauseCount struct {
	Cause string
	Count int
}

// Plan writes what a run would do, in the order of lines, and one line that
// adds it up. fresh is the number of fresh nodes of total, whether or not
// lines has them. estimateSeconds at or below 0 is not known. With verbose,
// fresh nodes have lines too and every line ends in the node's address.
func Plan(w io.Writer, lines []PlanLine, fresh, total int, byCause []CauseCount,
	estimateSeconds float64, jobs int, color, verbose bool) {
	palette := text.NewPalette(color)
	out := bufio.NewWriter(w)
	defer out.Flush()

	// A pass for the widths first: plans of a million lines are printed from
	// the lines themselves, not from a copy.
	kindWidth, placeWidth, solutionWidth := 10, 0, 0
	for _, l := range lines {
		if l.Mark == "=" && !verbose {
			continue
		}
		kindWidth = max(kindWidth, text.Width(text.Line(l.Kind, 0)))
		placeWidth = max(placeWidth, text.Width(l.place()))
		solutionWidth = max(solutionWidth, text.Width(text.Line(l.Solution, 0)))
	}
	for _, l := range lines {
		if l.Mark == "=" && !verbose {
			continue
		}
		fmt.Fprintf(out, "%s %s ", paintMark(palette, l.Mark), text.Pad(text.Line(l.Kind, 0), kindWidth))
		fmt.Fprintf(out, "%s   ", text.Pad(l.place(), placeWidth))
		rest := ""
		if solutionWidth > 0 {
			rest = text.Pad(text.Line(l.Solution, 0), solutionWidth) + " "
		}
		rest += text.Line(l.Cause, 0)
		if verbose && l.Addr != "" {
			rest = strings.TrimRight(rest, " ") + palette.Quiet("  "+text.Line(l.Addr, 0))
		}
		fmt.Fprintln(out, strings.TrimRight(rest, " "))
	}
	fmt.Fprintln(out, palette.Quiet(fmt.Sprintf("= %d fresh", fresh)))
	fmt.Fprintf(out, "%d stale of %d.", total-fresh, total)
	if len(byCause) > 0 {
		var parts []string
		for _, c := range byCause {
			parts = append(parts, fmt.Sprintf("%d %s", c.Count, text.Line(c.Cause, 0)))
		}
		fmt.Fprintf(out, " By cause: %s.", strings.Join(parts, ", "))
	}
	if estimateSeconds > 0 {
		fmt.Fprintf(out, " About %s at -j%d (from earlier runs).", text.Duration(estimateSeconds), jobs)
	}
	fmt.Fprintln(out, " Nothing was changed.")
}

// place is "problem/checkpoint/file @ backend", or what of it there is.
func (l PlanLine) place() string {
	place := l.Problem
	if l.Checkpoint != "" {
		place += "/" + l.Checkpoint
	}
	if l.File != "" {
		place += "/" + l.File
	}
	if l.Backend != "" {
		place += " @ " + l.Backend
	}
	return text.Line(strings.TrimSpace(place), 0)
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
