package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// mainFile is the configuration that a directory has.
const mainFile = "fevalgraph.hcl"

// findConfig looks for the configuration in the directories above the current one, if
// it is not there and no flag says where it is. A file of another user is not taken: a
// directory that several share would let one run programs as another.
func (a *app) findConfig(cmd *cobra.Command) {
	if a.flags.dir != "" || a.flags.file != "" || !relevant(cmd, "chdir") || cmd.Name() == "init" {
		return
	}
	start, err := os.Getwd()
	if err != nil {
		return
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(filepath.Join(dir, mainFile))
		if err == nil && !info.IsDir() && (dir == start || ownFile(info)) {
			if dir != start {
				if a.flags.dir, err = filepath.Rel(start, dir); err != nil {
					a.flags.dir = dir
				}
			}
			return
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}
