// Package harbor contains everything particular to Harbor: readers of its tasks and recorded jobs, and an
// export of results to a job that its own programs read.
package harbor

import "github.com/fevalgraph/fevalgraph/plan"

// Benchmark returns what plan needs to know of Harbor.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "harbor", Export: export, Readers: append(taskReaders(), jobReader()), Logs: []plan.LogFormat{logFormat}, Configure: configure}
}
