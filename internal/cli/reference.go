package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// shippedResult is how a solution that a problem ships did.
type shippedResult struct {
	Problem string         `json:"problem"`
	Wanted  float64        `json:"wanted"`
	Score   *float64       `json:"score"` // null when it has none
	Status  verdict.Status `json:"status"`
	Reached bool           `json:"reached"`
	Message *string        `json:"message"`
}

// validateReferences judges what problems ship.
func (a *app) validateReferences(cmd *cobra.Command) error {
	o := a.langOptions()
	o.References = true
	p, err := a.open(cmd.Context(), o, writing)
	if err != nil {
		return err
	}
	return p.finish(p.judgeReferences(cmd))
}

func (p *project) judgeReferences(cmd *cobra.Command) error {
	a := p.app
	var results *report.Results
	judged := error(nil)
	if p.ships() {
		asJSON, quiet := a.flags.json, a.flags.quiet
		if asJSON { // one object is printed, and no events
			a.flags.json, a.flags.quiet = false, true
		}
		judged = p.runSelected(cmd, []string{"suite=" + lang.ReferenceName}, runFlags{})
		a.flags.json, a.flags.quiet = asJSON, quiet
		var err error
		if results, _, err = a.pastResults(p.state, p.run); err != nil {
			return errors.Join(judged, err)
		}
	}
	rows, missed := p.compareReferences(results)
	if a.flags.json {
		err := a.writeJSON(map[string]any{"schema": 1, "valid": missed == 0 && judged == nil, "references": orEmpty(rows)})
		if err != nil {
			return err
		}
	} else {
		for _, r := range rows {
			if !r.Reached && r.Score != nil {
				fmt.Fprintf(a.io.Err, "%s: its reference has the score %v, and must reach %v\n", r.Problem, *r.Score, r.Wanted)
			} else if !r.Reached {
				fmt.Fprintf(a.io.Err, "%s: its reference has no score, and must reach %v\n", r.Problem, r.Wanted)
			}
		}
		if !a.flags.quiet {
			fmt.Fprintf(a.io.Out, "%d of %d references reach their score\n", len(rows)-missed, len(rows))
		}
	}
	if judged == nil && missed > 0 {
		return exit(exitFailed, nil)
	}
	return judged
}

// ships reports whether any problem has a reference.
func (p *project) ships() bool {
	for _, problem := range p.cfg.Problems {
		if problem.Reference != nil {
			return true
		}
	}
	return false
}

// compareReferences compares scores with what is stated.
func (p *project) compareReferences(results *report.Results) (rows []shippedResult, missed int) {
	for _, problem := range p.cfg.Problems {
		if problem.Reference == nil {
			continue
		}
		row := shippedResult{Problem: problem.Name, Wanted: problem.Reference.Score, Status: verdict.Skipped}
		for _, cell := range results.Cells {
			if cell.Problem == problem.Name && cell.Solution == lang.ReferenceName {
				row.Score, row.Status, row.Message = cell.Score, cell.Status, cell.Message
			}
		}
		row.Reached = row.Status == verdict.Success && row.Score != nil && *row.Score >= row.Wanted
		if !row.Reached {
			missed++
		}
		rows = append(rows, row)
	}
	return rows, missed
}
