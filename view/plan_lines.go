package view

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// PlanNode describes a node in a plan.
type PlanNode struct {
	Addr     string
	State    string // fresh, stale, new, broken, failed, error, blocked, skipped, unknown
	Cause    string
	Category string // one word of the cause: asset, new, follows ...

	// Checkpoint names the checkpoint of a cell that the node belongs to, and Cell the cell; both are
	// "" of a node that several cells share, and Checkpoint also of a cell without checkpoints. Of and In are
	// the names of its checkpoint and problem without the solution. Of a task that no cell needs, Checkpoint and
	// Cell are its address, Of and In are that without the key of an instance, and its inputs have the same Cell.
	Cell, Checkpoint, Of, In string
	Task                     bool
	// Root, RootCategory and RootState describe the original cause for a node that follows others.
	Root, RootCategory, RootState string
	Feeds                         bool // a stale node of a cell depends on it
}

const stateFresh = "fresh"

// PlanLines returns the lines of a plan. With verbose each node has one. Otherwise each stale checkpoint has
// one, or several share one, if they are many, and so does a stale task or node that no stale checkpoint needs; one
// line counts the nodes that may be stale.
func PlanLines(nodes iter.Seq[PlanNode], unknown int, verbose bool) PlanSummary {
	if verbose {
		return nodeLines(nodes)
	}
	s := checkpointLines(nodes)
	if unknown > 0 {
		s.Lines = append(s.Lines, PlanLine{Mark: "?", Addr: text.Count(unknown, "node"), Cause: "unknown: a backend was not queried (-v lists them)"})
	}
	return s
}

// PlanSummary contains the lines and sums of a plan.
type PlanSummary struct {
	Lines       []PlanLine
	Checkpoints int          // stale checkpoints; not counted with verbose
	Tasks       int          // stale tasks that no checkpoint needs; not counted with verbose
	Causes      []CauseCount // of these or, with verbose, of nodes, the most frequent first
}

func nodeLines(nodes iter.Seq[PlanNode]) (s PlanSummary) {
	causes := map[string]int{}
	for n := range nodes {
		if n.State != stateFresh && n.State != report.StateUnknown {
			causes[n.Category]++
		}
		s.Lines = append(s.Lines, PlanLine{Mark: planMark(n.State), Addr: n.Addr, Cause: n.Cause})
	}
	s.Causes = countCauses(causes)
	return s
}

func planMark(state string) string {
	switch state {
	case stateFresh:
		return "="
	case "error":
		return "x"
	case "broken", "failed", "blocked", "skipped":
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

// Launch describes the machines that a run would request from a backend that provides them.
type Launch struct {
	Backend  string
	Machines string   // resources of each cluster
	Clusters int      // approximate number
	Hourly   *float64 // US dollars of each; nil if unknown
}

// Write writes a line about l.
func (l Launch) Write(w io.Writer) {
	price := "price not known"
	if l.Hourly != nil {
		price = fmt.Sprintf("$%.2f an hour each", *l.Hourly)
	}
	fmt.Fprintf(w, "A run would launch about %s: %s, for %s, %s.\n", text.Count(l.Clusters, "cluster"), text.Line(l.Machines, 0), l.Backend, price)
}
