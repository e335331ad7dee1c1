package view

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// PlanNode is what a plan says of a node.
type PlanNode struct {
	Addr     string
	State    string // fresh, stale, new, broken, error, blocked, skipped, unknown
	Cause    string
	Category string // one word of the cause: asset, new, follows ...
}

const stateFresh = "fresh"

// PlanLines are the lines of a plan, and how many nodes there are for each kind of cause, the
// most frequent first. Fresh and unknown nodes have lines only with verbose; otherwise one line says
// how many are unknown, and one stands for all that are stale for a reason that is the machine's.
func PlanLines(nodes iter.Seq[PlanNode], unknown int, verbose bool) ([]PlanLine, []CauseCount) {
	var lines []PlanLine
	causes := map[string]int{}
	for n := range nodes {
		stale := n.State != stateFresh && n.State != report.StateUnknown
		if stale {
			causes[n.Category]++
		}
		if stale || verbose {
			lines = append(lines, PlanLine{Mark: planMark(n.State), Addr: n.Addr, Cause: n.Cause})
		}
	}
	if cause := machineCause(nodes); cause != "" && !verbose && len(lines) > 1 {
		lines = []PlanLine{{Mark: "~", Addr: fmt.Sprintf("%d nodes", len(lines)), Cause: cause + " (-v lists them)"}}
	}
	if unknown > 0 && !verbose {
		lines = append(lines, PlanLine{Mark: "?", Addr: text.Count(unknown, "node"), Cause: "unknown: a backend was not asked (-v lists them)"})
	}
	return lines, countCauses(causes)
}

// machineCause is the one thing that makes all stale nodes stale, when that is nothing
// which they have in files or in the configuration: an environment variable, a backend's
// interpreter, a version of a requirement.
func machineCause(nodes iter.Seq[PlanNode]) string {
	cause := ""
	for n := range nodes {
		switch n.Category {
		case string(event.CauseFollows), report.StateUnknown:
			continue
		case "env", "backend", "requirement":
		default:
			if n.State == stateFresh {
				continue
			}
			return ""
		}
		if cause != "" && cause != n.Cause {
			return ""
		}
		cause = n.Cause
	}
	return cause
}

func planMark(state string) string {
	switch state {
	case stateFresh:
		return "="
	case "error":
		return "x"
	case "broken", "blocked", "skipped":
		return "!"
	case "new":
		return "+"
	case report.StateUnknown:
		return "?"
	}
	return "~"
}

func countCauses(causes map[string]int) []CauseCount {
	var counts []CauseCount
	for cause, n := range causes {
		counts = append(counts, CauseCount{Cause: cause, Count: n})
	}
	slices.SortFunc(counts, func(a, b CauseCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Cause, b.Cause))
	})
	return counts
}

// Launch is what a run would ask of a backend that provides machines.
type Launch struct {
	Backend  string
	Machines string   // what each cluster is made of
	Clusters int      // about so many
	Hourly   *float64 // US dollars of each; nil is not known
}

// Write writes a line about l.
func (l Launch) Write(w io.Writer) {
	price := "price not known"
	if l.Hourly != nil {
		price = fmt.Sprintf("$%.2f an hour each", *l.Hourly)
	}
	fmt.Fprintf(w, "A run would launch about %s: %s, for %s, %s.\n", text.Count(l.Clusters, "cluster"), text.Line(l.Machines, 0), l.Backend, price)
}
