// Package harbor contains everything particular to Harbor: readers of its tasks and recorded jobs, and an
// export of results to a job that its own programs read.
package harbor

import "github.com/fevalgraph/fevalgraph/plan"

// Benchmark is the part of Harbor that the program hands to plan.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "harbor", Export: export, Readers: append(taskReaders(), jobReader())}
}
