package plan

import (
	"errors"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// invalid adds the node that reports the errors of a problem, whether or not any cell needs it: a problem
// without solutions must not vanish.
func (c *compiler) invalid(p *lang.Problem) graph.ID {
	return c.addOnce(graph.Node{
		Addr: address(KindProblem, p.Name), Kind: KindProblem, Labels: problemLabels(p, ""),
		Task: &tasks.Invalid{Reason: reason(p.Invalid)}, Pool: inProcessPool,
	})
}

// invalidCell adds the only node of a cell whose problem cannot be evaluated, which is always blocked.
func (c *compiler) invalidCell(cell *Cell) {
	c.unjudged(cell, []graph.Dep{{On: c.invalid(cell.Problem), As: "problem"}})
}

// invalidResult returns the result of a cell whose problem is invalid.
func invalidResult(out report.Cell, p *lang.Problem) report.Cell {
	out.Status = verdict.Error
	out.Message = nonEmpty(p.Invalid.Error())
	return out
}

// reason puts each error on a separate line.
func reason(findings diag.List) error {
	var lines []error
	for _, f := range findings {
		if f.Severity == diag.Error {
			lines = append(lines, diag.List{f})
		}
	}
	return errors.Join(lines...)
}
