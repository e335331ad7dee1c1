package view

import (
	"fmt"
	"io"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Schedule writes how near a run of the given seconds came to the least that
// any schedule of its work could take: the longest chain of work, or all work
// spread over the slots, whichever is more. Nothing for a run without work.
//
//	schedule 1m55s of at least 1m50s (longest chain 27.2s, work over slots 1m50s)
func Schedule(w io.Writer, seconds, chain, slots float64) {
	if chain <= 0 {
		return
	}
	fmt.Fprintf(w, "schedule %s of at least %s (longest chain %s, work over slots %s)\n",
		text.Duration(seconds), text.Duration(max(chain, slots)), text.Duration(chain), text.Duration(slots))
}
