package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) doctorCommand() *cobra.Command {
	containers := false
	cmd := command("doctor", "Check what evaluation needs on this machine",
		`Doctor checks the programs, directories and leftovers that matter to a run, and
describes how to fix problems. It contacts the Docker daemon if a backend of the
configuration needs one, or with --containers, and the go-judge servers of
backends. It exits with 3 if a run could not work.`,
		"  fevalgraph doctor",
		func(cmd *cobra.Command, args []string) error { return a.runDoctor(cmd.Context(), containers) })
	cmd.Flags().BoolVar(&containers, "containers", false, "check the Docker daemon even if the configuration does not need it")
	return cmd
}

func (a *app) runDoctor(ctx context.Context, containers bool) error {
	findings := upkeep.Doctor(ctx, a.options(), containers)
	missing := false
	var rows [][]string
	for _, f := range findings {
		missing = missing || f.State == "missing"
		rows = append(rows, []string{f.State, f.Subject, f.Detail})
	}
	if a.flags.json {
		if err := a.writeJSON(findingsObject{1, findings}); err != nil {
			return err
		}
	} else {
		view.Table(a.io.Out, []string{"state", "what", "detail"}, rows, a.page())
	}
	if missing {
		return exit.With(exit.NotJudged, nil)
	}
	return nil
}
