package cli

import (
	"fmt"
	"io"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/view"
)

// out is where results are shown.
func (p *project) out() io.Writer {
	switch {
	case p.observer == nil:
		return p.app.io.Out
	case p.app.flags.quiet:
		return &p.said
	}
	return io.MultiWriter(p.app.io.Out, &p.said)
}

// showLeaderboards prints the result blocks over the results of a run.
func (p *project) showLeaderboards(results *report.Results) {
	boards, err := p.plan.Leaderboards(results)
	if err != nil {
		if !p.app.flags.quiet {
			fmt.Fprintf(p.app.io.Err, "warning: %v\n", err)
		}
		if p.observer != nil {
			p.observer.doubts("a warning is to be shown each time")
		}
	}
	for _, b := range boards {
		fmt.Fprintf(p.out(), "\n%s\n", b.Name)
		view.Table(p.out(), b.Header, b.Rows, p.app.color())
	}
}
