package cli

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
)

// bashCompletion is not cobra's, which needs the package bash-completion.
//
//go:embed completion.bash
var bashCompletion string

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	cmd := command("completion ["+strings.Join(shells, "|")+"]", "Print a shell's completion script",
		`Completion prints a script that completes commands, flags and their values,
selectors, addresses, and the ids of runs.`,
		`  source <(fevalgraph completion bash)
  fevalgraph completion fish > ~/.config/fish/completions/fevalgraph.fish`,
		func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				_, err := io.WriteString(a.io.Out, bashCompletion)
				return err
			case "zsh":
				return root.GenZshCompletion(a.io.Out)
			case "fish":
				return root.GenFishCompletion(a.io.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.io.Out)
			}
			return exit.With(exit.Usage, fmt.Errorf("completion %s: want one of %s", args[0], strings.Join(shells, ", ")))
		})
	cmd.Args = arguments(1, 1, "the shell")
	cmd.ValidArgs = shells
	return cmd
}
