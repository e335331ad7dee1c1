// Package frontier contains everything particular to Frontier-CS: the rules of its judges (rules), the files
// of its batches (batch), exports of results to these files, imports of what a batch recorded about the same
// files, and readers of problems and solutions.
package frontier

import (
	"github.com/fevalgraph/fevalgraph/compat/frontier/rules"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Benchmark returns what plan needs to know of Frontier-CS.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "frontier", Score: rules.Runner{}, Judge: rules.Judge{}, Export: export, Import: importer(),
		Readers: readers(), Functions: functions()}
}
