package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) consoleCommand() *cobra.Command {
	return command("console", "Evaluate expressions in the configuration",
		`Console reads expressions from stdin, one a line, and prints their values. All
references and functions of the configuration are available.`,
		`  echo 'keys(problem)' | fevalgraph console
  fevalgraph console`,
		func(cmd *cobra.Command, args []string) error {
			console, diags := lang.NewConsole(a.langOptions())
			if diags.HasErrors() {
				return exit.With(exit.Usage, diags)
			}
			if file, ok := view.Terminal(a.io.In); ok {
				return a.converse(console, file)
			}
			return a.answerLines(console, bufio.NewReader(a.io.In))
		})
}

// answerLines evaluates a file of expressions. An error in one line does not stop the others.
func (a *app) answerLines(console *lang.Console, in *bufio.Reader) error {
	failed := false
	for {
		line, err := in.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			value, diags := console.Eval(strings.TrimSpace(line))
			if diags.HasErrors() {
				failed = true
				view.Diagnostics(a.io.Err, diags, a.colorErr(), a.columns(a.io.Err))
			} else {
				fmt.Fprintln(a.io.Out, a.escape(value))
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	if failed {
		return exit.With(exit.Usage, nil)
	}
	return nil
}

// converse runs the console on a terminal, with line editing and history.
func (a *app) converse(console *lang.Console, terminal *os.File) error {
	state, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return a.answerLines(console, bufio.NewReader(terminal))
	}
	defer term.Restore(int(terminal.Fd()), state)
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{terminal, a.io.Out}, "> ")
	for {
		line, err := t.ReadLine()
		line = strings.TrimSpace(line)
		if err != nil || line == "exit" {
			return nil
		}
		if line == "" {
			continue
		}
		value, diags := console.Eval(line)
		if diags.HasErrors() {
			view.Diagnostics(t, diags, a.colorErr(), 0)
			continue
		}
		fmt.Fprintln(t, text.Block(value))
	}
}
