// Package compat lists the benchmarks whose rules and files fevalgraph knows.
// Everything that is particular to one is in a folder of its own below, and no
// other code names it: plan has the seams, plan.Benchmark.
package compat

import (
	"github.com/fevalgraph/fevalgraph/compat/frontier"
	"github.com/fevalgraph/fevalgraph/compat/harbor"
	"github.com/fevalgraph/fevalgraph/compat/inspect"
	"github.com/fevalgraph/fevalgraph/compat/scbench"
	"github.com/fevalgraph/fevalgraph/compat/swebench"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Benchmarks returns all of them.
func Benchmarks() []plan.Benchmark {
	return []plan.Benchmark{scbench.Benchmark(), frontier.Benchmark(), harbor.Benchmark(), inspect.Benchmark(), swebench.Benchmark()}
}
