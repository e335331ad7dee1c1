package cli

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/view"
)

// showLeaderboards prints the result blocks over the results of a run.
func (p *project) showLeaderboards(results *report.Results) {
	boards, err := p.plan.Leaderboards(results)
	if err != nil {
		if !p.app.flags.quiet {
			fmt.Fprintf(p.app.io.Err, "warning: %v\n", err)
		}
	}
	for _, b := range boards {
		fmt.Fprintf(p.app.io.Out, "\n%s\n", b.Name)
		view.Table(p.app.io.Out, b.Header, b.Rows, p.app.color())
	}
}
