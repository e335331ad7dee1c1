package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/view"
)

// pairsHelp is the part of a command's help about --pairs.
const pairsHelp = `A file of pairs has a line SOLUTION:PROBLEM for each solution, by its name or by
the end of its source's path, as in flash/gpt5.py:flash. Empty lines, and lines
that begin with #, say nothing.`

// addPairs gives a command the flag --pairs.
func addPairs(cmd *cobra.Command, into *string, usage string) {
	cmd.Flags().StringVar(into, "pairs", "", usage)
}

// paired returns a predicate over the nodes of the solutions that a file of
// pairs names; nil without a file. A pair that no cell is about is an error.
func (p *project) paired(file string) (func(*graph.Node) bool, error) {
	if file == "" {
		return nil, nil
	}
	paired, err := p.readPairs(file)
	if err != nil {
		return nil, err
	}
	findings := paired.Findings()
	celled := map[*lang.Solution]bool{}
	for _, c := range p.plan.Cells {
		celled[c.Solution] = true
	}
	wanted := map[string]bool{}
	for i, s := range paired.Solutions {
		wanted[verdictKey(s.Problem.Name, s.Name)] = true
		if !celled[s] {
			findings = append(findings, diag.Diagnostic{Severity: diag.Error, Code: "unknown-pair", Summary: "Pair of no suite",
				Detail: fmt.Sprintf("No suite has %s, so that nothing judges it.", s.Ref), Range: &paired.Places[i]})
		}
	}
	if findings.HasErrors() {
		findings.Sort()
		return nil, exit(exitUsage, findings)
	}
	return func(n *graph.Node) bool { return wanted[verdictKey(n.Label("problem"), n.Label("solution"))] }, nil
}

// readPairs reads a file of pairs, shows warnings about it and returns errors.
// What it lacks is the caller's to judge.
func (p *project) readPairs(file string) (*lang.Paired, error) {
	paired, findings := p.cfg.ReadPairs(p.app.flags.dir, file)
	if findings.HasErrors() {
		if paired != nil {
			findings = append(findings, paired.Findings()...)
		}
		findings.Sort()
		return nil, exit(exitUsage, findings)
	}
	if len(findings) > 0 && !p.app.flags.quiet {
		findings.Sort()
		view.Diagnostics(p.app.io.Err, findings, p.app.colorErr(), 0)
	}
	return paired, nil
}
