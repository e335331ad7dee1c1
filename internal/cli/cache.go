package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) cacheCommand() *cobra.Command {
	cmd := command("cache", "Manage the content store", `Cache shows, trims and checks the content store, which projects share, and
transfers parts of it to other machines.`,
		`  fevalgraph cache stats
  fevalgraph cache gc --max-size 5GiB --max-age 30d
  fevalgraph cache verify --repair
  fevalgraph cache sign
  fevalgraph cache audit --sample 20
  fevalgraph cache pack -o cells.pack`,
		func(cmd *cobra.Command, args []string) error { return cmd.Help() })
	cmd.AddCommand(a.cacheStatsCommand(), a.cacheGCCommand(), a.cacheVerifyCommand(), a.cacheSignCommand(), a.cachePackCommand(), a.cacheUnpackCommand(),
		a.cachePushCommand(), a.cachePullCommand(), a.cacheAuditCommand())
	return cmd
}

func (a *app) cacheStatsCommand() *cobra.Command {
	return command("stats", "Show the content of the store", `Stats counts the content of the store and, in the recorded runs of this project,
the nodes that it served and the nodes that ran.`, "  fevalgraph cache stats --json",
		func(cmd *cobra.Command, args []string) error {
			s, err := upkeep.Stats(cmd.Context(), a.options())
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(storeObject{1, s.Dir, s.Blobs, s.BlobBytes, s.Records, s.RecordBytes, s.Served})
			}
			view.Table(a.io.Out, []string{"store", ""}, describe.Store(s), a.page())
			return nil
		})
}

func (a *app) cacheGCCommand() *cobra.Command {
	var maxSize, maxAge string
	var dryRun bool
	cmd := command("gc", "Remove the least recently used entries",
		`Gc removes blobs and records, least recently used first, until the store meets
the limits. Removed entries are produced again when they are needed. It is safe
during a run.`,
		`  fevalgraph cache gc --max-size 5GiB
  fevalgraph cache gc --max-age 30d --dry-run`,
		func(cmd *cobra.Command, args []string) error {
			o := upkeep.GCLimits{MaxBytes: -1, DryRun: dryRun}
			var err error
			if maxSize != "" {
				if o.MaxBytes, err = lang.ParseSize(maxSize); err != nil {
					return exit.With(exit.Usage, fmt.Errorf("--max-size: %w", err))
				}
			}
			if maxAge != "" {
				if o.MaxAge, err = parseAge(maxAge); err != nil {
					return exit.With(exit.Usage, fmt.Errorf("--max-age: %w", err))
				}
			}
			if maxSize == "" && maxAge == "" {
				return exit.With(exit.Usage, fmt.Errorf("gc needs a limit: --max-size 5GiB, --max-age 30d, or both"))
			}
			r, err := upkeep.GC(cmd.Context(), a.options(), o)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(collectedObject{1, r.Blobs, r.Records, r.Bytes, r.KeptBytes, r.Unreadable})
			}
			verb := "removed"
			if dryRun {
				verb = "would remove"
			}
			fmt.Fprintf(a.io.Out, "%s %d blobs and %d records, %s; %s remain\n", verb, r.Blobs, r.Records, text.Bytes(r.Bytes), text.Bytes(r.KeptBytes))
			if r.Unreadable > 0 && !a.flags.quiet {
				fmt.Fprintf(a.io.Err, "warning: %d entries could not be read or removed; `fevalgraph cache verify --repair` drops unreadable entries\n", r.Unreadable)
			}
			return nil
		})
	cmd.Flags().StringVar(&maxSize, "max-size", "", "keep at most this much: `SIZE` such as 5GiB")
	cmd.Flags().StringVar(&maxAge, "max-age", "", "remove entries that were not used for this long: `AGE` such as 30d or 12h")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "remove nothing, only show what would be removed")
	return cmd
}

// parseAge parses a duration that can be in days.
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
		`Verify hashes every blob and decodes every record. It exits with 1 if anything
is damaged. With --repair, damaged entries are dropped; their nodes become
stale.`,
		"  fevalgraph cache verify --repair",
		func(cmd *cobra.Command, args []string) error {
			r, err := upkeep.Verify(cmd.Context(), a.options(), repair)
			if err != nil {
				return err
			}
			if a.flags.json {
				if err := a.writeJSON(checkedObject{1, r.Blobs, r.Records, view.OrEmpty(r.Corrupt), view.OrEmpty(r.Dangling)}); err != nil {
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
				return exit.With(exit.Failed, nil)
			}
			return nil
		})
	cmd.Flags().BoolVar(&repair, "repair", false, "drop damaged entries")
	return cmd
}

func (a *app) cacheSignCommand() *cobra.Command {
	return command("sign", "Trust the records of the store",
		`Sign signs every intact record of the store as yours, so that its results are
served. Records are signed when they are written, with your own key or that of a
group (FEVALGRAPH_STORE_KEY), and no others are trusted. Use it only for a store
that no other user could write to, such as a store of an earlier version.`,
		`  fevalgraph cache sign
  FEVALGRAPH_STORE_KEY=/etc/evals.key fevalgraph cache sign`,
		func(cmd *cobra.Command, args []string) error {
			n, err := upkeep.SignRecords(cmd.Context(), a.options())
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(signedObject{1, n})
			}
			fmt.Fprintf(a.io.Out, "signed %s\n", text.Count(int(n), "record"))
			return nil
		})
}
