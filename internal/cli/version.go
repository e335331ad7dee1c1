package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of the source tree.
const release = "0.1.0"

// built describes what the program was built from, as recorded by the Go toolchain. Fields are empty if they
// are unknown, such as without a checkout.
type built struct {
	Revision string `json:"revision,omitempty"` // commit
	Time     string `json:"time,omitempty"`     // of the commit, RFC 3339
	Modified bool   `json:"modified,omitempty"` // the checkout had uncommitted changes

	deps []*debug.Module
}

func readBuilt() built {
	var b built
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	b.deps = info.Deps
	return b
}

// version returns the release, and the revision if known.
func (b *built) version() string {
	if b.Revision == "" {
		return release
	}
	version := release + "+" + b.Revision[:min(12, len(b.Revision))]
	if b.Modified {
		version += ".modified"
	}
	return version
}

// modules returns the versions of the modules in the program, by path.
func (b *built) modules() map[string]string {
	versions := make(map[string]string, len(b.deps))
	for _, m := range b.deps {
		if m.Replace != nil {
			m = m.Replace
		}
		versions[m.Path] = m.Version
	}
	return versions
}

// Version returns the release, and the revision if known.
func Version() string {
	b := readBuilt()
	return b.version()
}

func (a *app) versionCommand() *cobra.Command {
	return command("version", "Print the version", `Version prints the version of fevalgraph and of the Go that built it; as JSON,
also the commit, and the version of each included module.`, "  fevalgraph version --json",
		func(cmd *cobra.Command, args []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			b := readBuilt()
			if a.flags.json {
				return a.writeJSON(versionObject{1, b.version(), runtime.Version(), platform, b, b.modules()})
			}
			fmt.Fprint(a.io.Out, versionLine(b.version()))
			return nil
		})
}

// versionLine returns the line of version and --version.
func versionLine(version string) string {
	return fmt.Sprintf("fevalgraph %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
