package validate

import (
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Invalid are the findings about all problems that are invalid alone, sorted by
// place.
func Invalid(cfg *lang.Config) diag.List {
	return InvalidOf(cfg, func(*lang.Problem) bool { return true })
}

// InvalidOf are those about the problems that are wanted.
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
