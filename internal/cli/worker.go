package cli

import (
	"flag"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend/worker/workerhost"
	"github.com/fevalgraph/fevalgraph/eval/exit"
)

func (a *app) workerCommand() *cobra.Command {
	o := workerhost.Options{LookupEnv: a.io.LookupEnv}
	cmd := command("worker", "Run commands for fevalgraph on another machine",
		`Worker runs commands for fevalgraph on another machine. A backend that launches
machines starts it there; users rarely need it. It writes its address and keys
to worker.json in its directory, which only its owner can read. It serves one
run at a time, and ends when no run was connected for as long as --idle.`,
		"  fevalgraph worker --dir /var/tmp/worker --listen 10.0.0.5:0",
		func(cmd *cobra.Command, args []string) error {
			err := workerhost.Run(cmd.Context(), o, func(at workerhost.Address) { fmt.Fprintln(a.io.Out, "worker at", at.Address) })
			if err != nil {
				return exit.With(exit.NotJudged, err)
			}
			return nil
		})
	flags := flag.NewFlagSet(cmd.Name(), flag.ContinueOnError)
	o.Flags(flags)
	cmd.Flags().AddGoFlagSet(flags)
	if err := cmd.MarkFlagRequired("dir"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}
