// Package harbor is everything particular to Harbor: its tasks, the jobs that it
// recorded, and the way from results to a job that its own programs read.
package harbor

import "github.com/fevalgraph/fevalgraph/plan"

// Benchmark is the part of Harbor that the program hands to plan.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "harbor", Export: export, Readers: append(taskReaders(), jobReader())}
}
