package view

import (
	"fmt"
	"io"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// ScheduleFacts describes how the work of a run was spread over time. Times are in seconds.
type ScheduleFacts struct {
	Took  float64
	Chain float64 // the critical path: the longest chain of dependent work
	Slots float64 // the time of the busiest pool with all its slots busy
	Work  float64 // all of it
	Idle  float64 // slots of the busiest pool that stood empty, on average
	Of    int     // slots of that pool
}

// Schedule writes how near a run was to the least that any schedule of its
// work could take: the critical path, or all work spread over the slots,
// whichever is more. Nothing for a run without work.
//
//	schedule 1m55s of at least 1m50s (critical path 27.2s, total work 3m40s, 0.1 of 2 slots idle)
func Schedule(w io.Writer, f ScheduleFacts) {
	if f.Chain <= 0 {
		return
	}
	fmt.Fprintf(w, "schedule %s of at least %s (critical path %s, total work %s, %s of %s idle)\n",
		text.Duration(f.Took), text.Duration(max(f.Chain, f.Slots)), text.Duration(f.Chain), text.Duration(f.Work),
		strconv.FormatFloat(f.Idle, 'f', 1, 64), text.Count(f.Of, "slot"))
}
