package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) watchCommand() *cobra.Command {
	var f runFlags
	cmd := command("watch [SELECTOR...]", "Evaluate after every change",
		`Watch evaluates what the selectors match, or everything, as run does, and again
after each change that makes something stale: in the configuration, in tests,
solutions and assets, or in any other file that was read. Changes at short
intervals count as one, and changes during a run lead to another one. An error
in the configuration is shown, and watch continues when it is fixed.

It takes the flags of run. What --force and --retry match is forced or retried
once. Files are checked every half second, many files less often.

Interrupt it (Ctrl-C) to end it: running work is stopped, finished work is kept.
Exit codes: 130 interrupted, 2 or 4 if the first call is invalid.`,
		`  fevalgraph watch
  fevalgraph watch problem=kvstore,solution=agent
  fevalgraph watch --fail-fast -j 4
  fevalgraph watch --json`,
		func(cmd *cobra.Command, args []string) error { return a.runWatch(cmd.Context(), f.request(args)) })
	cmd.Args = cobra.ArbitraryArgs
	f.add(cmd)
	return cmd
}

func (a *app) runWatch(ctx context.Context, r eval.Request) error {
	w := eval.NewWatch(a.options())
	return a.whenever(ctx, w, func() error {
		_, err := a.present(r, "", true, func(r eval.Request) (*eval.Outcome, error) { return w.Run(ctx, r) })
		return err
	})
}

// whenever makes a call, and repeats it when it can have another result, until ctx ends. It prints errors of
// calls. If the first call fails because it was wrong, it returns that error.
func (a *app) whenever(ctx context.Context, w *eval.Watch, call func() error) error {
	screen := view.NewScreen(a.io.Out, a.io.Err, a.io.LookupEnv)
	switch {
	case a.flags.quiet:
		screen = view.NewScreen(io.Discard, io.Discard, a.io.LookupEnv)
	case a.flags.json: // one object below another on a terminal
		screen = view.NewScreen(io.Discard, a.io.Err, a.io.LookupEnv)
	}
	for first, title := true, ""; ; first = false {
		screen.Next(title)
		err := call()
		if ctx.Err() != nil {
			return err
		}
		if first && isUsageError(err) {
			return err
		}
		a.complain(err)
		a.idle.Store(true)
		screen.Wait()
		change, err := w.Wait(ctx)
		if err != nil {
			return nil //nolint:nilerr // the interruption is the end of it
		}
		a.idle.Store(false)
		title = titleOf(change)
	}
}

// isUsageError reports whether an error is about how a command was called, and not about the configuration, which
// the user may fix meanwhile.
func isUsageError(err error) bool {
	var e *exit.Error
	var mistakes diag.List
	if !errors.As(err, &e) || e.Err == nil {
		return false
	}
	if errors.As(err, &mistakes) {
		missing := func(d diag.Diagnostic) bool { return d.Code == "missing-file" && d.Range == nil }
		return slices.ContainsFunc(mistakes, missing) // the main file
	}
	return e.Class == exit.Usage || e.Class == exit.NoMatch
}

// titleOf returns when and why a call is repeated.
func titleOf(c eval.Change) string {
	said := "a run has ended"
	if !c.Run {
		said = c.Path + " changed"
		if here, err := filepath.Abs("."); err == nil {
			if rel, err := filepath.Rel(here, c.Path); err == nil && filepath.IsLocal(rel) {
				said = rel + " changed"
			}
		}
	}
	return time.Now().Format(time.TimeOnly) + " " + said
}
