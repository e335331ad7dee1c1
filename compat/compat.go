// Package compat lists the benchmarks whose rules and files fevalgraph knows. All that is particular to a
// benchmark is in a folder below, and no other code names one: it hands a plan.Benchmark to plan, with rules
// of scoring, exports, imports, readers of logs, and lang.Readers.
//
// A Reader's block stands for attributes and blocks that it reads from the benchmark's own files. Package
// lang puts them below what HCL says, so no later stage knows the difference. A Reader can also make a
// solution of each that another program recorded. README.md lists decisions in which fevalgraph differs from
// the benchmarks' own programs.
package compat

import (
	"github.com/fevalgraph/fevalgraph/compat/everyeval"
	"github.com/fevalgraph/fevalgraph/compat/frontier"
	"github.com/fevalgraph/fevalgraph/compat/harbor"
	"github.com/fevalgraph/fevalgraph/compat/logs"
	"github.com/fevalgraph/fevalgraph/compat/scbench"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Benchmarks returns all of them.
func Benchmarks() []plan.Benchmark {
	return []plan.Benchmark{scbench.Benchmark(), frontier.Benchmark(), harbor.Benchmark(), everyeval.Benchmark(), logs.Benchmark()}
}
