package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) validateCommand() *cobra.Command {
	return command("validate", "Check the configuration",
		`Validate loads and expands the configuration and reports every finding with its
place. Nothing is evaluated. With --json the findings are one object.`,
		`  fevalgraph validate
  fevalgraph validate -C evals --json`,
		func(cmd *cobra.Command, args []string) error {
			cfg, diags := lang.Load(a.langOptions())
			if a.flags.json {
				if diags == nil {
					diags = diag.List{}
				}
				if err := a.writeJSON(map[string]any{"schema": 1, "valid": !diags.HasErrors(), "diagnostics": diags}); err != nil {
					return err
				}
			} else {
				view.Diagnostics(a.io.Err, diags, a.colorErr(), 0)
			}
			if diags.HasErrors() {
				return exit(exitUsage, nil)
			}
			if !a.flags.json && !a.flags.quiet {
				cells := 0
				for _, s := range cfg.Suites {
					cells += len(s.Cells)
				}
				fmt.Fprintf(a.io.Out, "valid: %s, %s, %s, %s\n", text.Count(len(cfg.Problems), "problem"),
					text.Count(len(cfg.Solutions), "solution"), text.Count(len(cfg.Backends), "backend"), text.Count(cells, "cell"))
			}
			return nil
		})
}

func (a *app) fmtCommand() *cobra.Command {
	var check bool
	cmd := command("fmt [FILE...]", "Rewrite configuration files in the usual layout",
		`Fmt formats the given files, or all HCL files of the configuration's directory,
and prints the names of those that changed. With --check nothing is written and
the exit code is 1 when a file would change. "-" formats stdin to stdout.`,
		`  fevalgraph fmt
  fevalgraph fmt --check
  fevalgraph fmt - < fevalgraph.hcl`,
		func(cmd *cobra.Command, args []string) error { return a.runFmt(args, check) })
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().BoolVar(&check, "check", false, "only report files that are not formatted")
	return cmd
}

func (a *app) runFmt(files []string, check bool) error {
	if slices.Equal(files, []string{"-"}) {
		src, err := io.ReadAll(a.io.In)
		if err != nil {
			return exit(exitUsage, err)
		}
		out, diags := lang.Format("<stdin>", src)
		if diags.HasErrors() {
			return exit(exitUsage, diags)
		}
		_, err = a.io.Out.Write(out)
		return err
	}
	if len(files) == 0 {
		for _, pattern := range []string{"*.hcl"} {
			found, err := filepath.Glob(filepath.Join(a.flags.dir, pattern))
			if err != nil {
				return exit(exitUsage, err)
			}
			files = append(files, found...)
		}
		if len(files) == 0 {
			return exit(exitUsage, fmt.Errorf("there are no *.hcl files in %s", filepath.Join(".", a.flags.dir)))
		}
	}
	var all diag.List
	changed := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return exit(exitUsage, err)
		}
		out, diags := lang.Format(file, src)
		if diags.HasErrors() {
			all = append(all, diags...)
			continue
		}
		if bytes.Equal(src, out) {
			continue
		}
		changed++
		fmt.Fprintln(a.io.Out, file)
		if !check {
			if err := renameio.WriteFile(file, out, 0o644, renameio.WithExistingPermissions()); err != nil {
				return exit(exitUsage, fmt.Errorf("writing %s: %w", file, err))
			}
		}
	}
	switch {
	case all.HasErrors():
		return exit(exitUsage, all)
	case check && changed > 0:
		return exit(exitFailed, nil)
	}
	return nil
}

func (a *app) consoleCommand() *cobra.Command {
	return command("console", "Evaluate expressions against the configuration",
		`Console reads expressions from stdin, one a line, and prints their values. All
references and functions of the configuration are there.`,
		`  echo 'keys(problem)' | fevalgraph console
  fevalgraph console`,
		func(cmd *cobra.Command, args []string) error {
			console, diags := lang.NewConsole(a.langOptions())
			if diags.HasErrors() {
				return exit(exitUsage, diags)
			}
			if file, ok := a.io.In.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
				return a.converse(console, file)
			}
			return a.answerLines(console, bufio.NewReader(a.io.In))
		})
}

// answerLines answers a file of expressions; an error in one line does not
// keep the others from being answered.
func (a *app) answerLines(console *lang.Console, in *bufio.Reader) error {
	failed := false
	for {
		line, err := in.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			value, diags := console.Eval(strings.TrimSpace(line))
			if diags.HasErrors() {
				failed = true
				view.Diagnostics(a.io.Err, diags, a.colorErr(), 0)
			} else {
				fmt.Fprintln(a.io.Out, value)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return exit(exitUsage, err)
		}
	}
	if failed {
		return exit(exitUsage, nil)
	}
	return nil
}

// converse is the console on a terminal, with line editing and history.
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
		fmt.Fprintln(t, value)
	}
}

func (a *app) variablesCommand() *cobra.Command {
	return command("variables", "Show every variable, its value and where that came from",
		`Variables lists the declared variables. A value comes from --var, --var-file,
FEVALGRAPH_VAR_<name>, *.auto.vars.hcl, or the default, in this order.`,
		`  fevalgraph variables
  fevalgraph variables --var root=/data/problems`,
		func(cmd *cobra.Command, args []string) error {
			cfg, err := a.load(a.langOptions())
			if err != nil {
				return err
			}
			if a.flags.json {
				type variable struct {
					Name        string `json:"name"`
					Type        string `json:"type"`
					Value       string `json:"value"`
					Source      string `json:"source"`
					Description string `json:"description,omitempty"`
				}
				out := []variable{}
				for _, v := range cfg.Variables {
					out = append(out, variable{v.Name, v.Type, v.Value, v.Source, v.Description})
				}
				return a.writeJSON(map[string]any{"schema": 1, "variables": out})
			}
			var rows [][]string
			for _, v := range cfg.Variables {
				rows = append(rows, []string{v.Name, v.Type, v.Value, v.Source, v.Description})
			}
			view.Table(a.io.Out, []string{"variable", "type", "value", "source", "description"}, rows, a.color())
			return nil
		})
}
