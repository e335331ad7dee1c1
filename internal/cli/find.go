package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/options"
)

// findConfig looks for the configuration in parent directories, if the current one has none and no flag
// specifies it.
func (a *app) findConfig(cmd *cobra.Command) {
	if a.flags.dir != "" || a.flags.file != "" || !relevant(cmd, "chdir") || cmd.Name() == "init" {
		return
	}
	start, err := os.Getwd()
	if err != nil {
		return
	}
	dir, found := options.FindProject(start)
	if !found || dir == start {
		return
	}
	a.flags.found = true
	if a.flags.dir, err = filepath.Rel(start, dir); err != nil {
		a.flags.dir = dir
	}
}
