package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend/worker/workerhost"
	"github.com/fevalgraph/fevalgraph/eval/exit"
)

func (a *app) workerCommand() *cobra.Command {
	o := workerhost.Options{LookupEnv: a.io.LookupEnv}
	cmd := command("worker", "Run commands for fevalgraph on another machine",
		`Worker runs commands for fevalgraph on another machine. A backend that launches
machines starts it there; a person rarely has to. It writes how to reach it to
worker.json in its directory, which only its owner can read. It serves one run
at a time, and ends when no run was connected for as long as --idle.`,
		"  fevalgraph worker --dir /var/tmp/worker --listen 10.0.0.5:0",
		func(cmd *cobra.Command, args []string) error {
			err := workerhost.Run(cmd.Context(), o, func(at workerhost.Address) { fmt.Fprintln(a.io.Out, "worker at", at.Address) })
			if err != nil {
				return exit.With(exit.NotJudged, err)
			}
			return nil
		})
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", "", "`DIR` of this worker alone: store, environments, worker.json")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen at; port 0 is any free one")
	f.DurationVar(&o.Idle, "idle", 10*time.Minute, "end when no run was connected for this `TIME`")
	f.StringVar(&o.Python, "python", "", "Python `VERSION` that uv is asked for")
	f.StringVar(&o.Isolation, "isolation", "", "`LEVEL` of isolation: full, partial or none (default: the most that the machine allows)")
	f.StringArrayVar(&o.Versions, "versions", nil, "shell `COMMAND` whose output enters keys (repeatable)")
	f.StringVar(&o.GoJudge, "go-judge", "", "go-judge's `PROGRAM`, for judge problems")
	f.StringArrayVar(&o.GoJudgeVersions, "go-judge-versions", nil, "shell `COMMAND` whose output in go-judge enters keys (repeatable)")
	if err := cmd.MarkFlagRequired("dir"); err != nil {
		panic(err) // it is defined above
	}
	return cmd
}
