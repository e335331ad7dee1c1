package view

import (
	"fmt"
	"io"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// ScheduleFacts describes the distribution of a run's work over time. Times are in seconds.
type ScheduleFacts struct {
	Took  float64
	Chain float64 // the critical path: the longest chain of dependent work
	Slots float64 // the time of the busiest pool with all its slots busy
	Work  float64 // total work
	Idle  float64 // average number of idle slots of the busiest pool
	Of    int     // slots of that pool
}

// Schedule writes the duration of a run next to the lower bound for any schedule of its work:
// the critical path, or the total work divided by the slots, whichever is more. It writes
// nothing for a run without work.
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
