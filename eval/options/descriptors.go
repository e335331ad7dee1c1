package options

import "math"

// Open files of a run were counted while up to 32 commands ran at once on the local backend: 20, and 11 more
// for each command. Those are two pipes, two handles of its process and two of its directory, and the files
// for concurrent decisions and storing. The rest is for files that are open for moments.
const (
	descriptorsOfSlot = 16
	descriptorsOfRun  = 64
)

// mostJobs returns how many nodes can run at once under the limit on open files.
func mostJobs() int {
	limit := DescriptorLimit()
	if limit == 0 {
		return math.MaxInt
	}
	return max(1, (limit-descriptorsOfRun)/descriptorsOfSlot)
}
