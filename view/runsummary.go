package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// NodeTime is a node with the duration of its work.
type NodeTime struct {
	Addr    string
	Seconds float64
}

// RunSummary writes the final line of a run, whose wording scripts rely on,
// followed by the slowest nodes, if any:
//
//	judged 2 checkpoints; nodes: ran 4, cached 23, broken 1 in 1.2s
//	run 20260102-030405-8003ab
//
// With --quiet, callers must not call it.
func RunSummary(w io.Writer, end event.RunEnd, slowest []NodeTime) {
	var b strings.Builder
	if end.Judged > 0 {
		fmt.Fprintf(&b, "judged %s; nodes: ", text.Count(end.Judged, "checkpoint"))
	}
	fmt.Fprintf(&b, "ran %d, cached %d", end.Executed, end.Cached)
	for _, part := range []struct {
		word string
		n    int
	}{{"blocked", end.Blocked}, {"broken", end.Broken}, {"failed", end.Failed}, {"skipped", end.Skipped}, {"interrupted", end.Interrupted}, {"preempted", end.Preempted}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %s %d", part.word, part.n)
		}
	}
	fmt.Fprintf(&b, " in %s\n", text.Duration(end.Seconds))
	if end.Run != "" {
		fmt.Fprintf(&b, "run %s\n", end.Run)
	}
	for i, node := range slowest {
		label := "slowest"
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&b, "%-8s %6s  %s\n", label, text.Duration(node.Seconds), text.Line(node.Addr, 0))
	}
	io.WriteString(w, b.String())
}
