package cli

import (
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) variablesCommand() *cobra.Command {
	return command("variables", "Show every variable, its value and origin",
		`Variables lists the declared variables. A value comes from --var, --var-file,
FEVALGRAPH_VAR_<name>, *.auto.vars.hcl, or the default, in this order.`,
		`  fevalgraph variables
  fevalgraph variables --var root=/data/problems`,
		func(cmd *cobra.Command, args []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			if a.flags.json {
				out := []variable{}
				for _, v := range cfg.Variables {
					out = append(out, variable{v.Name, v.Type, v.Value, v.Source, v.Description})
				}
				return a.writeJSON(variablesObject{1, out})
			}
			var rows [][]string
			for _, v := range cfg.Variables {
				rows = append(rows, []string{v.Name, v.Type, v.Value, v.Source, v.Description})
			}
			view.Table(a.io.Out, []string{"variable", "type", "value", "source", "description"}, rows, a.page())
			return nil
		})
}
