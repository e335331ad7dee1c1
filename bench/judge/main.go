// Command judge compares fevalgraph's judge track with a judge server that grades whole submissions, such as the one
// of Frontier-CS:
//
//	go run -C bench ./judge submit -server URL -solutions DIR -problems 1,2 -models a,b -save FILE
//	go run -C bench ./judge compare [-events FILE] FILE RESULTS...
//
// submit submits DIR/<problem>/<model>.<ext>, one at a time, and saves the server's result after each. It continues
// where an interrupted run stopped: submissions in FILE are not repeated. Exceptions, up to the number of -attempts,
// are submissions with a case that scored nothing and has no message, since such servers report failures of their own
// sandbox that way, and submissions that the server could not judge because its compiler was too slow for a checker.
// With -again, every submission is repeated.
//
// compare compares the saved results, case by case, with one or more outputs of `fevalgraph results --format json` for
// the same submissions: the ratio and the unbounded ratio of each case and the scores must be equal. A differing case
// is explained if one side disagrees with itself, by its result in another attempt or RESULTS, or by different results
// at different times, or if it is one of the named kinds that fevalgraph decides differently on purpose. The exit code
// is 1 if a difference is unexplained, or a result is missing on one side. Wall times are those of the first judged
// attempts, one after another, and of the run whose events are in a file.
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
