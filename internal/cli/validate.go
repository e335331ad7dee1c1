package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) validateCommand() *cobra.Command {
	var f referenceFlags
	cmd := command("validate", "Check the configuration",
		`Validate loads and expands the configuration and reports every finding with its
location. It evaluates nothing. With --json the findings are one object.

With --reference the solutions that problems ship in reference blocks are
judged, each on the first backend that can; each must have its expected
result: pass, fail, or a score in a range. A Harbor task without such blocks
has two, on a docker backend: its solution/solve.sh must pass, and a no-op
must fail. With --repeat each is judged N times, and those whose verdicts
differ between repeats are reported as flaky. What is stored is not judged
again, except with --force. If a machine kept one from being judged, the exit
code is 3.`,
		`  fevalgraph validate
  fevalgraph validate -C evals --json
  fevalgraph validate --reference --repeat 5
  fevalgraph validate --reference --junit gate.xml --comment gate.md`,
		func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			cfg, diags := lang.Load(a.langOptions())
			diags = validate.Findings(cfg, diags, new(validate.Imports))
			if o := a.options(); !diags.HasErrors() {
				for _, text := range upkeep.Unidentified(&o, cfg) {
					diags = append(diags, diag.Diagnostic{Severity: diag.Warning, Code: "unidentified-program", Summary: "Unidentified program", Detail: text})
				}
			}
			if a.flags.json && (!f.reference || diags.HasErrors()) {
				if diags == nil {
					diags = diag.List{}
				}
				if err := a.writeJSON(validationObject{1, !diags.HasErrors(), diags}); err != nil {
					return err
				}
			} else if !a.flags.json {
				view.Diagnostics(a.io.Err, diags, a.colorErr(), a.columns(a.io.Err))
			}
			if diags.HasErrors() {
				return exit.With(exit.Usage, nil)
			}
			if f.reference {
				return a.validateReferences(cmd.Context(), cfg, &f)
			}
			if !a.flags.json && !a.flags.quiet {
				cells := 0
				for _, s := range cfg.Suites {
					cells += len(s.Cells)
				}
				tasks := ""
				if n := len(cfg.Tasks); n > 0 {
					tasks = ", " + text.Count(n, "task")
				}
				fmt.Fprintf(a.io.Out, "valid: %s, %s, %s, %s%s\n", text.Count(len(cfg.Problems), "problem"),
					text.Count(len(cfg.Solutions), "solution"), text.Count(len(cfg.Backends), "backend"), text.Count(cells, "cell"), tasks)
			}
			return nil
		})
	cmd.Flags().BoolVar(&f.reference, "reference", false, "judge the solutions that problems ship")
	cmd.Flags().IntVar(&f.repeat, "repeat", 0, "with --reference: judge each `N` times, and report differing verdicts")
	cmd.Flags().BoolVar(&f.force, "force", false, "with --reference: judge again what is stored")
	cmd.Flags().StringVar(&f.junit, "junit", "", "with --reference: write JUnit XML to a `FILE`, a case for each reference")
	cmd.Flags().StringVar(&f.comment, "comment", "", "with --reference: write Markdown for a comment to a `FILE`")
	return cmd
}
