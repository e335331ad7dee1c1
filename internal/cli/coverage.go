package cli

import (
	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/view"
)

// listCoverage prints the coverage of each problem with expected solutions: the pairs of a file or, without
// one, the solutions of the configuration.
func (a *app) listCoverage(p *eval.Project, pairs string) error {
	expected := &lang.Paired{Solutions: p.Plan.Config.Solutions}
	if pairs != "" {
		var err error
		if expected, err = p.ReadPairs(pairs); err != nil {
			return err
		}
	}
	all := validate.Cover(p.Plan.Config, expected)
	if a.flags.json {
		return a.writeJSON(coverageObject{1, all})
	}
	rows := describe.Coverage(all)
	view.Table(a.io.Out, rows.Header, rows.Cells(), a.page())
	return nil
}
