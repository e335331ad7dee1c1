package options

import "math"

// What a run has open was counted while up to 32 commands ran at once on the local
// backend: 20 files and 11 more for each. Those are two pipes, two handles of its process
// and two of its directory, and what deciding and storing beside it takes. The rest is for
// files that are open for moments.
const (
	descriptorsOfSlot = 16
	descriptorsOfRun  = 64
)

// mostJobs is how many nodes can run at once with the files that may be open.
func mostJobs() int {
	limit := DescriptorLimit()
	if limit == 0 {
		return math.MaxInt
	}
	return max(1, (limit-descriptorsOfRun)/descriptorsOfSlot)
}
