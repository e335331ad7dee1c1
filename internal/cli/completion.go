package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	cmd := command("completion ["+strings.Join(shells, "|")+"]", "Print a shell's completion script",
		"Completion prints a script that completes commands and flags.",
		`  source <(fevalgraph completion bash)
  fevalgraph completion fish > ~/.config/fish/completions/fevalgraph.fish`,
		func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.io.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.io.Out)
			case "fish":
				return root.GenFishCompletion(a.io.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.io.Out)
			}
			return exit(eval.Usage, fmt.Errorf("completion %s: want one of %s", args[0], strings.Join(shells, ", ")))
		})
	cmd.Args = cobra.ExactArgs(1)
	cmd.ValidArgs = shells
	return cmd
}
