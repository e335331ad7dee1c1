package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) statusCommand() *cobra.Command {
	var pairs string
	cmd := command("status [SELECTOR...]", "Verdicts of the last run, and whether they still hold",
		`Status shows every checkpoint of every cell with the verdict of the last run and
whether a run would judge it anew.`,
		`  fevalgraph status
  fevalgraph status problem=kvstore`,
		func(cmd *cobra.Command, args []string) error {
			return a.runStatus(cmd.Context(), selection{args: args, pairs: pairs})
		})
	cmd.Args = cobra.ArbitraryArgs
	addPairs(cmd, &pairs, "keep only the solutions that a `FILE` of pairs names")
	return cmd
}

func (a *app) runStatus(ctx context.Context, s selection) error {
	p, err := a.open(ctx, a.langOptions(), reading)
	if err != nil {
		return err
	}
	defer p.close()
	targets, err := p.targets(ctx, s)
	if err != nil {
		return err
	}
	rep, err := p.dryRun(ctx, evaluation{targets: targets})
	if err != nil {
		return err
	}
	past := p.pastCheckpoints()
	asked := map[string]bool{}
	for _, id := range rep.Nodes {
		asked[p.plan.Graph.Node(id).Addr] = true
	}
	var rows []view.StatusRow
	for _, cell := range p.plan.Cells {
		if len(cell.Problem.Invalid) > 0 && asked[p.plan.Graph.Node(cell.Node).Addr] {
			row := p.statusRow(cell, "", past)
			row.State, row.Cause = "error", cell.Problem.Invalid.Error()
			rows = append(rows, row)
		}
		for _, cc := range cell.Checkpoints {
			if !asked[p.plan.Graph.Node(cc.Aggregate).Addr] {
				continue
			}
			row := p.statusRow(cell, cc.Checkpoint.Name, past)
			rowState(&row, rep, cc)
			rows = append(rows, row)
		}
	}
	return a.showStatus(rows)
}

// rowState fills in whether a checkpoint's verdict still holds.
func rowState(row *view.StatusRow, rep *graph.Report, cc plan.CellCheckpoint) {
	row.State, row.Cause = "fresh", ""
	// The first stale node on the way tells why.
	for _, id := range cc.Own {
		st := rep.Status(id)
		if state, _ := planState(st); state != "fresh" {
			row.State, row.Cause = state, planCause(st)
			return
		}
	}
}

func (a *app) showStatus(rows []view.StatusRow) error {
	if a.flags.json {
		return a.writeJSON(map[string]any{"schema": 1, "rows": orEmpty(rows)})
	}
	view.StatusTable(a.io.Out, rows, a.color())
	return nil
}

func (p *project) statusRow(cell *plan.Cell, checkpoint string, past map[string]report.Checkpoint) view.StatusRow {
	row := view.StatusRow{Problem: cell.Problem.Name, Checkpoint: checkpoint, Solution: cell.Solution.Name, Backend: cell.Backend.Addr()}
	c, ok := past[verdictKey(row.Problem, row.Checkpoint, row.Solution, row.Backend, strconv.Itoa(cell.Repeat))]
	if !ok {
		return row
	}
	judgedRow(&row, &c)
	return row
}

// judgedRow fills in what a checkpoint came to.
func judgedRow(row *view.StatusRow, c *report.Checkpoint) {
	row.Verdict = "failed"
	if c.Passed {
		row.Verdict = "passed"
	}
	if c.Class != verdict.Judged {
		row.Verdict = string(c.Class)
	}
	row.Note, row.Score = c.Caveat(), c.Score
	total := c.Groups.Sum(verdict.Groups[:]...)
	row.Core = fmt.Sprintf("%d/%d", c.Groups[verdict.Core].Passed, c.Groups[verdict.Core].Total)
	row.Total = fmt.Sprintf("%d/%d", total.Passed, total.Total)
}

func (p *project) pastCheckpoints() map[string]report.Checkpoint {
	past := map[string]report.Checkpoint{}
	results, _, err := p.app.pastResults(p.state, "latest")
	if err != nil {
		return past
	}
	for _, cell := range results.Cells {
		for _, c := range cell.Listed() {
			past[verdictKey(cell.Problem, c.Name, cell.Solution, cell.Backend, strconv.Itoa(cell.Repeat))] = c
		}
	}
	return past
}
