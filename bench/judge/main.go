// Command judge compares fevalgraph's judge track with a judge server that
// grades whole submissions, of the kind that Frontier-CS ships:
//
//	go run -C bench ./judge submit -server URL -solutions DIR -problems 1,2 -models a,b -save FILE
//	go run -C bench ./judge compare [-events FILE] FILE RESULTS...
//
// submit hands DIR/<problem>/<model>.<ext> in, one at a time, and saves what
// the server says after each of them. It goes on where an interrupted run
// stopped: what FILE has is not handed in again. But a submission with a case
// that scored nothing, about which nothing is said, is, until there have been
// as many attempts as -attempts says, since such servers tell a failure of
// their own sandbox that way; so is one that the server could not judge, because
// its compiler was too slow for a checker. With -again every submission is.
//
// compare compares what was saved, case by case, with one or more outputs of
// `fevalgraph results --format json` for the same submissions: the ratio and
// the unbounded ratio of each case and the scores must be the same numbers. A
// case that differs is explained when one side does not agree with itself, by
// its result in another attempt or RESULTS, by earning something else at
// different times, or when it is of the kinds
// that fevalgraph decides otherwise on purpose, which it names. Anything
// unexplained, and anything that one side does not have, makes the exit code 1.
// The wall times are of the first attempts that were judged, one after another, and of the run
// whose events are in a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: judge submit -server URL -solutions DIR -problems A,B -models A,B -save FILE [-attempts N] [-again] [-timeout D]
       judge compare [-events FILE] FILE RESULTS...
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0, 1 for a difference or a failure, 2 for usage.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(errs, usage)
		return 2
	}
	var err error
	ok := true
	switch args[0] {
	case "submit":
		var s submitter
		flags := flag.NewFlagSet("submit", flag.ContinueOnError)
		flags.SetOutput(errs)
		s.flags(flags)
		if flags.Parse(args[1:]) != nil || s.incomplete() || flags.NArg() > 0 {
			fmt.Fprint(errs, usage)
			return 2
		}
		err = s.run(ctx, out)
	case "compare":
		flags := flag.NewFlagSet("compare", flag.ContinueOnError)
		flags.SetOutput(errs)
		events := flags.String("events", "", "what `fevalgraph run --json` printed, for its wall time")
		if flags.Parse(args[1:]) != nil || flags.NArg() < 2 {
			fmt.Fprint(errs, usage)
			return 2
		}
		ok, err = compareFiles(flags.Arg(0), flags.Args()[1:], *events, out)
	default:
		fmt.Fprint(errs, usage)
		return 2
	}
	if err != nil {
		fmt.Fprintln(errs, "judge:", err)
		return 1
	}
	if !ok {
		return 1
	}
	return 0
}
