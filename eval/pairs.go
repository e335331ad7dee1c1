package eval

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
)

// paired returns a predicate over nodes of the solutions in a file of pairs; nil without a file. A pair without
// a cell is an error.
func (c *call) paired(file string) (func(*graph.Node) bool, error) {
	if file == "" {
		return nil, nil
	}
	paired, err := c.readPairs(file)
	if err != nil {
		return nil, err
	}
	findings := paired.Findings()
	celled := map[*lang.Solution]bool{}
	plan.EachCell(c.Config, func(c lang.Cell) { celled[c.Solution] = true })
	wanted := map[plan.CellID]bool{} // by problem and solution
	for i, s := range paired.Solutions {
		wanted[plan.CellID{Problem: s.Problem.Name, Solution: s.Name}] = true
		if !celled[s] {
			findings = append(findings, diag.Diagnostic{Severity: diag.Error, Code: "unknown-pair", Summary: "Pair without a suite",
				Detail: fmt.Sprintf("No suite contains %s, so it is not judged.", s.Ref), Range: &paired.Places[i]})
		}
	}
	if findings.HasErrors() {
		findings.Sort()
		return nil, exit.With(exit.Usage, findings)
	}
	return func(n *graph.Node) bool {
		return wanted[plan.CellID{Problem: n.Label("problem"), Solution: n.Label("solution")}]
	}, nil
}

// readPairs reads a file of pairs, whose path is relative to the project's directory. It returns an error for
// invalid files; the caller must judge findings about pairs that the configuration lacks.
func (c *call) readPairs(file string) (*lang.Paired, error) {
	paired, findings := c.Config.ReadPairs(c.options.Dir, file)
	if findings.HasErrors() {
		if paired != nil {
			findings = append(findings, paired.Findings()...)
		}
		findings.Sort()
		return nil, exit.With(exit.Usage, findings)
	}
	if len(findings) > 0 {
		findings.Sort()
		c.options.Note(options.Warnings{Diagnostics: findings})
	}
	return paired, nil
}
