// Package cli is the command line: one file per command, each turning flags
// into options, calling a room, and handing what came of it to view. Commands
// decide nothing about staleness or verdicts and print only through view and
// report.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/view"
)

// Exit codes; scripts rely on them.
const (
	exitPassed      = 0
	exitFailed      = 1  // judged, something fails its policy
	exitUsage       = 2  // usage or configuration error
	exitNotJudged   = 3  // something could not be judged
	exitNoMatch     = 4  // a selector matched nothing
	exitStale       = 5  // plan --check found stale work
	exitBug         = 70 // a bug in fevalgraph
	exitInterrupted = 130
)

// IO is what the program has of the outside world.
type IO struct {
	In        io.Reader
	Out, Err  io.Writer
	LookupEnv func(string) (string, bool)
	// Benchmarks are those whose rules and files commands know.
	Benchmarks []plan.Benchmark
}

// errInterrupted is the cause of a context cancelled by a signal.
var errInterrupted = errors.New("interrupted")

// exitError carries the exit code of a command; err may be nil when
// everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}
func (e *exitError) Unwrap() error { return e.err }

// exit makes a command end with a code and, unless err is nil, a message.
func exit(code int, err error) error { return &exitError{code, err} }

// Main runs the program and returns its exit code.
func Main(args []string, stdio IO) (code int) {
	app := &app{io: stdio}
	defer func() {
		if p := recover(); p != nil {
			code = app.reportBug(p)
		}
	}()
	ctx, stop := app.interruptible()
	defer stop()
	root := app.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdio.In)
	root.SetOut(stdio.Out)
	root.SetErr(stdio.Err)
	err := root.ExecuteContext(ctx)
	if err == nil && context.Cause(ctx) != nil {
		return exitInterrupted
	}
	return app.complain(err)
}

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP
// cancels; the second one ends the program at once. What then still runs is
// ended by the next start.
func (a *app) interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		fmt.Fprintln(a.io.Err, "interrupted: stopping what runs; finished work is kept (again to stop at once)")
		cancel(errInterrupted)
		if _, ok := <-signals; ok {
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

// complain shows an error and returns its exit code.
func (a *app) complain(err error) int {
	if err == nil {
		return exitPassed
	}
	code := exitUsage // what cobra says is about usage
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
		if e.err == nil {
			return code
		}
		err = e.err
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	var list diag.List
	if errors.As(err, &list) {
		view.Diagnostics(a.io.Err, list, a.colorErr(), 0)
		return code
	}
	fmt.Fprintf(a.io.Err, "fevalgraph: %v\n", err)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		fmt.Fprintln(a.io.Err, "  hint: the disk is full; `fevalgraph cache gc --max-size 5GiB` frees what the store holds")
	case errors.Is(err, event.ErrNoRuns):
	case e == nil:
		fmt.Fprintln(a.io.Err, "  hint: `fevalgraph --help` shows the commands")
	}
	return code
}

func (a *app) reportBug(p any) int {
	fmt.Fprintf(a.io.Err, "fevalgraph: bug: %v\nThis should not happen. Set FEVALGRAPH_DEBUG=1 for the trace and please report it.\n", p)
	if _, debug := a.io.LookupEnv("FEVALGRAPH_DEBUG"); debug {
		panic(p)
	}
	return exitBug
}

// noMatch is the error of a selector that picks nothing.
func noMatch(format string, args ...any) error {
	return exit(exitNoMatch, fmt.Errorf(format, args...))
}

// command makes a cobra command whose usage errors stay short.
func command(use, short, long, example string, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example, RunE: run, Args: cobra.NoArgs}
}
