package eval

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Gaps warns about suites of which nothing will be judged, and about those that ask for
// checkpoints without a submission. There are none of a configuration that is invalid.
func Gaps(cfg *lang.Config) (found diag.List) {
	if cfg == nil {
		return nil
	}
	for _, s := range cfg.Suites {
		missing, all := 0, 0
		for _, cell := range s.Cells {
			for _, answer := range cell.Solution.Checkpoints {
				if cell.Solution.Omits(answer) {
					continue
				}
				all++
				if answer.Missing {
					missing++
				}
			}
		}
		d := diag.Diagnostic{Severity: diag.Warning}
		switch {
		case all == 0:
			d.Code, d.Summary = "no-cells", "Nothing to judge"
			d.Detail = fmt.Sprintf("The suite %q has no solution on any backend, so that a run has no verdict.", s.Name)
			d.Hint = "solutions are solution blocks; a suite without a matrix has all of them, on every backend"
		case missing > 0:
			d.Code, d.Summary = "no-submission", "Checkpoints without a submission"
			d.Detail = fmt.Sprintf("Of %s in the suite %q, %d have no submission and count as not solved.", text.Count(all, "checkpoint"), s.Name, missing)
			d.Hint = "a source that should be there may be misspelt; missing = \"omit\" leaves out what is not asked for"
		default:
			continue
		}
		if !s.Implicit {
			d.Range, d.Context = &s.Range, fmt.Sprintf("suite %q", s.Name)
		}
		found = append(found, d)
	}
	return found
}
