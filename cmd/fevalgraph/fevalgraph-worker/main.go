// Command fevalgraph-worker is the part of fevalgraph that runs on other machines and in
// containers. It links neither the language nor docker nor reports, so that it is small to send
// and quick to start.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/remote/remotehost"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/backend/worker/workerhost"
)

const usage = `fevalgraph-worker runs commands for fevalgraph, which starts it.

  fevalgraph-worker worker --dir DIR [flags]   serve a run on this machine
  fevalgraph-worker container JSON             serve a session, as a container's first process
  fevalgraph-worker action                     do the task of an action in the current directory
`

// exitNotJudged is fevalgraph's exit code for a machine that failed.
const exitNotJudged = 3

func main() {
	// The first process of a container must not handle signals.
	if len(os.Args) > 1 && os.Args[1] == backend.ContainerCommand {
		finish(run(context.Background(), os.Args[1:]))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	finish(run(ctx, os.Args[1:]))
}

func finish(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "fevalgraph-worker:", err)
		os.Exit(exitNotJudged)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return flag.ErrHelp
	}
	switch args[0] {
	case "worker":
		o := workerhost.Options{LookupEnv: os.LookupEnv}
		flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
		o.Flags(flags)
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if o.Dir == "" {
			return errors.New("--dir is required")
		}
		return workerhost.Run(ctx, o, func(at workerhost.Address) { fmt.Println("worker at", at.Address) })
	case wire.Command:
		return remotehost.Run(ctx, ".")
	case backend.ContainerCommand:
		if len(args) == 2 {
			return workerhost.RunContainer(ctx, args[1])
		}
	}
	return fmt.Errorf("unknown command %q\n%s", args[0], usage)
}
