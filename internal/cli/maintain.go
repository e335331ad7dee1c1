package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/view"
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
			if a.flags.json {
				return a.writeJSON(map[string]any{"schema": 1, "version": Version(), "go": runtime.Version(), "platform": platform})
			}
			fmt.Fprintf(a.io.Out, "fevalgraph %s (%s, %s)\n", Version(), runtime.Version(), platform)
			return nil
		})
}

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
			return exit(exitUsage, fmt.Errorf("completion %s: want one of %s", args[0], strings.Join(shells, ", ")))
		})
	cmd.Args = cobra.ExactArgs(1)
	cmd.ValidArgs = shells
	return cmd
}

// configuredCache returns the configuration when it loads, for its cache
// block; commands that only need the store do without one.
func (a *app) configuredCache() *lang.Config {
	cfg, diags := lang.Load(a.langOptions())
	if diags.HasErrors() {
		return nil
	}
	return cfg
}

func (a *app) openCache(readOnly bool) (*cache.Disk, error) {
	dir, err := a.cacheDir(a.configuredCache())
	if err != nil {
		return nil, err
	}
	disk, err := cache.OpenDisk(dir, cache.Options{ReadOnly: readOnly})
	if err != nil {
		return nil, exit(exitUsage, err)
	}
	return disk, nil
}

func (a *app) cacheCommand() *cobra.Command {
	cmd := command("cache", "Look after the content store", "Cache shows, trims and checks the content store, which projects share.",
		`  fevalgraph cache stats
  fevalgraph cache gc --max-size 5GiB --max-age 30d
  fevalgraph cache verify --repair`,
		func(cmd *cobra.Command, args []string) error { return cmd.Help() })
	cmd.AddCommand(a.cacheStatsCommand(), a.cacheGCCommand(), a.cacheVerifyCommand())
	return cmd
}

func (a *app) cacheStatsCommand() *cobra.Command {
	return command("stats", "Show what the store holds", "Stats counts what the store holds.", "  fevalgraph cache stats --json",
		func(cmd *cobra.Command, args []string) error {
			disk, err := a.openCache(true)
			if err != nil {
				return err
			}
			s, err := disk.Stats(cmd.Context())
			if err != nil {
				return exit(exitNotJudged, err)
			}
			if a.flags.json {
				return a.writeJSON(map[string]any{"schema": 1, "dir": disk.Dir(), "blobs": s.Blobs, "blob_bytes": s.BlobBytes,
					"records": s.Records, "record_bytes": s.RecordBytes})
			}
			rows := [][]string{
				{"directory", disk.Dir()},
				{"blobs", fmt.Sprintf("%d (%s)", s.Blobs, view.Bytes(s.BlobBytes))},
				{"records", fmt.Sprintf("%d (%s)", s.Records, view.Bytes(s.RecordBytes))},
			}
			if !s.Oldest.IsZero() {
				rows = append(rows, []string{"least recently used", s.Oldest.Format(time.DateTime)}, []string{"most recently used", s.Newest.Format(time.DateTime)})
			}
			view.Table(a.io.Out, []string{"store", ""}, rows, a.color())
			return nil
		})
}

func (a *app) cacheGCCommand() *cobra.Command {
	var maxSize, maxAge string
	var dryRun bool
	cmd := command("gc", "Remove what was not used for long",
		`Gc removes blobs and records, least recently used first, until the store meets the
limits. What is removed and needed again is made again. It is safe beside a run.`,
		`  fevalgraph cache gc --max-size 5GiB
  fevalgraph cache gc --max-age 30d --dry-run`,
		func(cmd *cobra.Command, args []string) error {
			o := cache.GCOptions{MaxBytes: -1, DryRun: dryRun, Now: time.Now()}
			var err error
			if maxSize != "" {
				if o.MaxBytes, err = lang.ParseSize(maxSize); err != nil {
					return exit(exitUsage, fmt.Errorf("--max-size: %w", err))
				}
			}
			if maxAge != "" {
				if o.MaxAge, err = parseAge(maxAge); err != nil {
					return exit(exitUsage, fmt.Errorf("--max-age: %w", err))
				}
			}
			if maxSize == "" && maxAge == "" {
				return exit(exitUsage, fmt.Errorf("gc needs a limit: --max-size 5GiB, --max-age 30d, or both"))
			}
			disk, err := a.openCache(dryRun)
			if err != nil {
				return err
			}
			r, err := disk.GC(cmd.Context(), o)
			if err != nil {
				return exit(exitNotJudged, err)
			}
			if a.flags.json {
				return a.writeJSON(map[string]any{"schema": 1, "blobs": r.Blobs, "records": r.Records, "bytes": r.Bytes, "kept_bytes": r.KeptBytes})
			}
			verb := "removed"
			if dryRun {
				verb = "would remove"
			}
			fmt.Fprintf(a.io.Out, "%s %d blobs and %d records, %s; %s remain\n", verb, r.Blobs, r.Records, view.Bytes(r.Bytes), view.Bytes(r.KeptBytes))
			return nil
		})
	cmd.Flags().StringVar(&maxSize, "max-size", "", "keep at most this much: `SIZE` such as 5GiB")
	cmd.Flags().StringVar(&maxAge, "max-age", "", "remove what was not used for this long: `AGE` such as 30d or 12h")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "remove nothing, say what would be")
	return cmd
}

// parseAge reads a duration that may be in days.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q is not a number of days", text)
		}
		return time.Duration(n * 24 * float64(time.Hour)), nil
	}
	return time.ParseDuration(text)
}

func (a *app) cacheVerifyCommand() *cobra.Command {
	var repair bool
	cmd := command("verify", "Check every blob and record of the store",
		`Verify hashes every blob and decodes every record. It exits with 1 when something
is damaged. With --repair damaged entries are dropped; their nodes become stale.`,
		"  fevalgraph cache verify --repair",
		func(cmd *cobra.Command, args []string) error {
			disk, err := a.openCache(!repair)
			if err != nil {
				return err
			}
			r, err := disk.Verify(cmd.Context(), repair, nil)
			if err != nil {
				return exit(exitNotJudged, err)
			}
			if a.flags.json {
				if err := a.writeJSON(map[string]any{"schema": 1, "blobs": r.Blobs, "records": r.Records, "corrupt": orEmpty(r.Corrupt), "dangling": orEmpty(r.Dangling)}); err != nil {
					return err
				}
			} else {
				for _, name := range r.Corrupt {
					fmt.Fprintf(a.io.Out, "corrupt: %s\n", name)
				}
				for _, name := range r.Dangling {
					fmt.Fprintf(a.io.Out, "dangling: %s\n", name)
				}
				fmt.Fprintf(a.io.Out, "checked %d blobs and %d records: %d corrupt, %d dangling\n", r.Blobs, r.Records, len(r.Corrupt), len(r.Dangling))
			}
			if len(r.Corrupt) > 0 && !repair {
				return exit(exitFailed, nil)
			}
			return nil
		})
	cmd.Flags().BoolVar(&repair, "repair", false, "drop what is damaged")
	return cmd
}

func (a *app) cleanCommand() *cobra.Command {
	var keepRuns int
	var all bool
	cmd := command("clean", "Remove what this project keeps on disk",
		`Clean ends what crashed runs left and removes old run records. With --all it
removes the project's whole state directory: records, build log, file index. The
shared content store is not touched; see cache gc.`,
		`  fevalgraph clean --keep-runs 10
  fevalgraph clean --all`,
		func(cmd *cobra.Command, args []string) error { return a.runClean(cmd.Context(), keepRuns, all) })
	cmd.Flags().IntVar(&keepRuns, "keep-runs", 20, "run records to keep")
	cmd.Flags().BoolVar(&all, "all", false, "remove everything of this project's")
	return cmd
}

func (a *app) runClean(ctx context.Context, keepRuns int, all bool) error {
	state := a.projectState()
	reaped, err := backend.Reap(ctx, filepath.Join(state, "sessions"), reapers())
	if err != nil {
		return exit(exitNotJudged, err)
	}
	if all {
		if err := os.RemoveAll(state); err != nil {
			return exit(exitNotJudged, err)
		}
		fmt.Fprintf(a.io.Out, "removed %s\n", state)
		return nil
	}
	runs, err := event.Runs(state)
	if err != nil {
		return exit(exitNotJudged, err)
	}
	removed := 0
	for len(runs)-removed > max(keepRuns, 0) {
		if err := os.RemoveAll(filepath.Join(state, "runs", runs[removed])); err != nil {
			return exit(exitNotJudged, err)
		}
		removed++
	}
	fmt.Fprintf(a.io.Out, "ended %d leftover sessions, removed %d of %d run records\n", len(reaped), removed, len(runs))
	return nil
}
