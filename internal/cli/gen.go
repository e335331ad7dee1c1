package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/generate"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) genCommand() *cobra.Command {
	var r generate.Request
	var past string
	cmd := command("gen [SELECTOR...]", "Have models write solutions",
		`Gen asks the models of generator blocks for solutions, and writes the answers as
files where the blocks say. Run grades them as any others; it asks no model.

What has been answered is not asked again, whoever interrupts or kills gen: an
answer is kept by all of its request. A prompt that changed is another request.
An answer without usable code leaves a file .FAILED with the reason.

API keys are used only after `+"`fevalgraph trust`"+` has shown which are sent where.

A selector is a glob over PROBLEM/CHECKPOINT/GENERATOR#ATTEMPT, or AXIS=GLOB
with the axes generator, problem, checkpoint, attempt and model. Commas mean
and, several arguments mean or. Earlier checkpoints are asked first.

Exit codes: 0 all is there, 1 an answer had no usable code, 2 usage or
configuration error, also a wrong endpoint, model or key, 3 something was not
answered, or --max-cost was reached, 4 nothing selected, 130 interrupted.`,
		`  fevalgraph gen --dry-run
  fevalgraph gen --max-cost 5
  fevalgraph gen generator=small,problem=tally
  fevalgraph gen --missing
  fevalgraph gen --explain generator=small
  fevalgraph gen --again 'tally/checkpoint_2/small#1'`,
		func(cmd *cobra.Command, args []string) error {
			r.Selectors = args
			explain := cmd.Flags().Changed("explain")
			switch {
			case explain && (r.DryRun || r.Missing || r.Again || r.MaxCost != 0):
				return usageError(cmd, errors.New("--explain shows a past call and asks nothing, so it goes with no other flag of gen"))
			case explain:
				return a.runGenExplain(past, args)
			case cmd.Flags().Changed("max-cost") && !(r.MaxCost > 0):
				return usageError(cmd, fmt.Errorf("--max-cost %v: want dollars, above 0", r.MaxCost))
			case r.Missing && r.Again:
				return usageError(cmd, fmt.Errorf("--missing and --again exclude each other"))
			}
			return a.runGen(cmd.Context(), r)
		})
	cmd.Args = cobra.ArbitraryArgs
	flags := cmd.Flags()
	flags.BoolVarP(&r.DryRun, "dry-run", "n", false, "show what would be asked, and about what it takes; ask and write nothing")
	flags.BoolVar(&r.Missing, "missing", false, "leave alone what has files or a .FAILED, whatever it was made from")
	flags.BoolVar(&r.Again, "again", false, "ask again what has been answered; the new answer replaces the old one")
	flags.StringVar(&past, "explain", "", "show what a past call asked and why, and ask nothing: `ID`, a part of it, latest, or latest~1")
	flags.Lookup("explain").NoOptDefVal = "latest"
	flags.Float64Var(&r.MaxCost, "max-cost", 0, "start no request that could bring the cost of this call above so many `DOLLARS`")
	return cmd
}

func (a *app) runGen(ctx context.Context, r generate.Request) error {
	progress, err := a.progress()
	if err != nil {
		return err
	}
	r.Progress = progress
	out, err := generate.Run(ctx, a.options(), r)
	showErr := progress.Close()
	switch {
	case out == nil:
		return err
	case r.DryRun && a.flags.json:
		err = a.writeJSON(plannedJSON(out))
	case r.DryRun:
		a.showPlanned(out)
	case !a.flags.json:
		a.showGenerated(out)
	}
	if err == nil {
		err = showErr
	}
	if out.Exit == exit.Passed && err == nil {
		return nil
	}
	class := out.Exit
	if class == exit.Passed {
		class = exit.NotJudged
	}
	return exit.With(class, err)
}

// shownReasons is how many solutions without code are listed with their reason.
const shownReasons = 10

// showGenerated prints what became of the solutions.
func (a *app) showGenerated(out *generate.Outcome) {
	header, rows := generatedTable(out.Placed)
	if !a.flags.quiet && len(rows) > 0 {
		view.Table(a.io.Out, header, rows, a.color())
	}
	if a.flags.quiet {
		a.showUnanswered(out.Placed)
	}
	shown := 0
	for _, p := range out.Placed {
		// Of answers that came in this call, progress has shown it.
		if p.Outcome == gen.Edited || p.Outcome == gen.Unusable && (!p.Asked || a.flags.quiet) {
			if shown++; shown <= shownReasons {
				reason := p.Reason
				if p.Outcome == gen.Edited {
					reason = "its files were edited since and stay; remove them to have the answer in their place"
				}
				a.tell("%s %s: %s\n", p.Outcome, p.Step.Name(), reason)
			}
		}
	}
	if shown > shownReasons {
		fmt.Fprintf(a.io.Err, "and %d more\n", shown-shownReasons)
	}
	if a.flags.quiet {
		return
	}
	fmt.Fprintf(a.io.Err, "asked %d in %s%s\n", out.Asked.Requests, text.Duration(out.End.Seconds), took(out.Asked, out.Priced))
	if out.Exit == exit.Interrupted {
		fmt.Fprintln(a.io.Err, "the answers that came are kept; the same call asks for the rest")
	}
}

// showUnanswered prints why there is no answer, each reason once.
func (a *app) showUnanswered(placed []gen.Placed) {
	var reasons []view.Reason
	for _, p := range placed {
		if p.Outcome == gen.NoAnswer {
			reasons = append(reasons, view.Reason{What: fmt.Sprintf("%s %s", gen.NoAnswer, p.Step.Name()), Why: p.Reason})
		}
	}
	view.Reasons(a.io.Err, reasons, "solution")
}

// generatedTable counts outcomes by generator.
func generatedTable(placed []gen.Placed) (header []string, rows [][]string) {
	outcomes := []gen.Outcome{gen.Written, gen.Same, gen.Kept, gen.Edited, gen.Unusable, gen.NoAnswer}
	counts := map[string]map[gen.Outcome]int{}
	usage := map[string]*gen.Usage{}
	var names []string
	seen := map[gen.Outcome]bool{}
	priced := map[string]bool{}
	for _, p := range placed {
		name := p.Step.Generator.Name
		if counts[name] == nil {
			names = append(names, name)
			counts[name], usage[name], priced[name] = map[gen.Outcome]int{}, &gen.Usage{}, p.Step.Generator.Price != nil
		}
		counts[name][p.Outcome]++
		seen[p.Outcome] = true
		usage[name].Add(p.Usage)
	}
	header = []string{"generator"}
	for _, o := range outcomes {
		if seen[o] {
			header = append(header, string(o))
		}
	}
	tokens, anyPrice := int64(0), false
	for _, name := range names {
		tokens += usage[name].InputTokens + usage[name].OutputTokens
		anyPrice = anyPrice || priced[name]
	}
	if tokens > 0 {
		header = append(header, "tokens")
	}
	if anyPrice {
		header = append(header, "cost")
	}
	for _, name := range names {
		row := []string{name}
		for _, o := range outcomes {
			if seen[o] {
				row = append(row, strconv.Itoa(counts[name][o]))
			}
		}
		u := usage[name]
		if tokens > 0 {
			row = append(row, text.Thousands(int(u.InputTokens+u.OutputTokens)))
		}
		switch {
		case priced[name]:
			row = append(row, dollars(u.Cost))
		case anyPrice:
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	return header, rows
}

// took is what requests took, or would take, as the rest of a sentence.
func took(u gen.Usage, priced bool) string {
	if u.InputTokens+u.OutputTokens == 0 {
		return ""
	}
	said := fmt.Sprintf(": %s tokens in, %s out", text.Thousands(int(u.InputTokens)), text.Thousands(int(u.OutputTokens)))
	if priced {
		said += ", " + dollars(u.Cost)
	}
	return said
}

// dollars are of a sum that may be far below a cent.
func dollars(sum float64) string {
	if sum > 0 && sum < 0.1 {
		return fmt.Sprintf("$%.4f", sum)
	}
	return fmt.Sprintf("$%.2f", sum)
}

// showPlanned prints what would be asked.
func (a *app) showPlanned(out *generate.Outcome) {
	var rows [][]string
	for _, p := range out.Planned {
		about := text.Thousands(int(p.About.InputTokens))
		switch {
		case p.Wrong != "":
			rows = append(rows, []string{"x", p.Step.Name(), "", p.Wrong})
			continue
		case !p.Whole:
			about += " and the code before"
		}
		rows = append(rows, []string{"+", p.Step.Name(), about, strings.TrimSuffix(p.Cause, "; stops here if its output is equal")})
	}
	if len(rows) > 0 && !a.flags.quiet {
		view.Table(a.io.Out, []string{"", "solution", "tokens of the prompt", "cause"}, rows, a.color())
	}
	about := took(out.Asked, out.Priced)
	if about != "" {
		about = "; about" + strings.TrimPrefix(about, ":")
	}
	fmt.Fprintf(a.io.Out, "would ask %d, %d answered before%s\n", out.Asked.Requests, out.Known, about)
}

func plannedJSON(out *generate.Outcome) map[string]any {
	requests := []map[string]any{}
	for _, p := range out.Planned {
		s := p.Step
		one := map[string]any{"generator": s.Generator.Name, "problem": s.Problem.Name, "checkpoint": s.Checkpoint.Name, "attempt": s.Attempt,
			"cause": p.Cause, "input_tokens": p.About.InputTokens, "output_tokens": p.About.OutputTokens, "whole": p.Whole}
		if p.Wrong != "" {
			one["error"] = p.Wrong
		}
		requests = append(requests, one)
	}
	plan := map[string]any{"schema": 1, "requests": requests, "answered": out.Known, "input_tokens": out.Asked.InputTokens, "output_tokens": out.Asked.OutputTokens}
	if out.Priced {
		plan["cost"] = out.Asked.Cost
	}
	return plan
}
