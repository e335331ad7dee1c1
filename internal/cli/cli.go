// Package cli implements the command line, one file per command. Each turns flags into options, calls package
// eval once, and passes the result to view or report, or to package describe. Commands decide nothing, open no
// store and start no backend.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// IO holds the program's access to the outside world.
type IO struct {
	In        io.Reader
	Out, Err  io.Writer
	LookupEnv func(string) (string, bool)
	// Benchmarks lists the benchmarks that commands know.
	Benchmarks []plan.Benchmark
	Kinds      []kind.Kind // kinds of backends
}

// endProcess ends this process. Tests replace it.
var endProcess = os.Exit

// errInterrupted is the cause of a context cancelled by a signal.
var errInterrupted = errors.New("interrupted")

// Main runs the program and returns its exit code.
func Main(args []string, stdio IO) (code int) {
	stdio.Out = watched(stdio.Out)
	app := &app{io: stdio}
	defer func() {
		if p := recover(); p != nil {
			code = int(app.reportBug(p))
		}
	}()
	ctx, stop := app.interruptible()
	defer stop()
	app.done = ctx.Done()
	root := app.rootCommand()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // a shell requests completions: only that needs them
		app.complete(root)
	}
	root.SetArgs(args)
	root.SetIn(stdio.In)
	root.SetOut(stdio.Out)
	root.SetErr(stdio.Err)
	err := root.ExecuteContext(ctx)
	if lost := app.lostOutput(); err == nil && lost != nil {
		err = fmt.Errorf("writing the standard output: %w", lost)
	}
	if err == nil && context.Cause(ctx) != nil {
		return int(exit.Interrupted)
	}
	failed := app.complain(err)
	if failed == exit.Usage && context.Cause(ctx) != nil { // the configuration was not evaluated completely
		failed = exit.Interrupted
	}
	return int(failed)
}

// idleGrace is how long a command with nothing to stop can continue after a signal.
const idleGrace = 5 * time.Second

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP cancels. The second one, or idleGrace if
// there is nothing to stop, ends the program at once; the next start then ends what is still running.
func (a *app) interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		var late <-chan time.Time // nil waits forever
		if a.idle.Load() {
			fmt.Fprintln(a.io.Err, "interrupted")
			late = time.After(idleGrace)
		} else {
			fmt.Fprintln(a.io.Err, "interrupted: stopping what runs; finished work is kept (again to stop at once)")
		}
		cancel(errInterrupted)
		select {
		case _, ok := <-signals:
			if !ok {
				return
			}
		case <-late: // a computation that does not look at the context
		}
		endProcess(int(exit.Interrupted))
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

// complain prints an error and returns its exit code.
func (a *app) complain(err error) exit.Class {
	if err == nil {
		return exit.Passed
	}
	code := exit.Usage // errors of cobra are usage errors
	var e *exit.Error
	if errors.As(err, &e) {
		code = e.Class
		if e.Err == nil {
			return code
		}
		err = e.Err
	}
	if errors.Is(err, errInterrupted) {
		return exit.Interrupted
	}
	var list diag.List
	if errors.As(err, &list) {
		view.Diagnostics(a.io.Err, list, a.colorErr(), a.columns(a.io.Err))
		return code
	}
	a.printRemark("%s\n", text.Hang(fmt.Sprintf("fevalgraph: %v", err), a.columns(a.io.Err)))
	hint, lost := exhaustion.Hint(err), a.lostOutput()
	fault := hint != "" || lost != nil && errors.Is(err, lost) // of the machine or the output, not of the request
	if fault && code == exit.Usage {
		code = exit.NotJudged
	}
	switch {
	case hint != "":
		fmt.Fprintln(a.io.Err, text.Hang("  hint: "+hint, a.columns(a.io.Err)))
	case fault, errors.Is(err, event.ErrNoRuns):
	case e == nil:
		fmt.Fprintln(a.io.Err, "  hint: `fevalgraph --help` shows the commands")
	}
	return code
}

func (a *app) reportBug(p any) exit.Class {
	fmt.Fprintf(a.io.Err, "fevalgraph: bug: %v\nThis should not happen. Set FEVALGRAPH_DEBUG=1 for the trace and please report it.\n", p)
	if _, debug := a.io.LookupEnv("FEVALGRAPH_DEBUG"); debug {
		panic(p)
	}
	return exit.Bug
}

// command returns a cobra command with short usage errors.
func command(use, short, long, example string, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example, RunE: run, Args: arguments(0, 0, "")}
}
