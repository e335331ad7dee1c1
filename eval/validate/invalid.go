package validate

import (
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Invalid returns the findings in all invalid problems, sorted by position.
func Invalid(cfg *lang.Config) diag.List {
	return InvalidOf(cfg, func(*lang.Problem) bool { return true })
}

// InvalidOf returns the findings in the wanted problems.
func InvalidOf(cfg *lang.Config, wanted func(*lang.Problem) bool) diag.List {
	var all diag.List
	for _, problem := range cfg.Problems {
		if wanted(problem) {
			all = append(all, problem.Invalid...)
		}
	}
	all.Sort()
	return all
}
