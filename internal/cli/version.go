package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of the source tree.
const release = "0.1.0"

// Version is the release, with the revision it was built from when known.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return release + "+" + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return release
}

func (a *app) versionCommand() *cobra.Command {
	return command("version", "Print the version", "Version prints the version of fevalgraph and of what it was built with.", "  fevalgraph version --json",
		func(cmd *cobra.Command, args []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if a.flags.json {
				return a.writeJSON(map[string]any{"schema": 1, "version": Version(), "go": runtime.Version(), "platform": platform})
			}
			fmt.Fprintf(a.io.Out, "fevalgraph %s (%s, %s)\n", Version(), runtime.Version(), platform)
			return nil
		})
}
