package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/packs"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// signUsage describes the flag that accepts records of others.
const signUsage = "accept all records as if you had signed them: for files that only you or your own jobs could write"

func (a *app) cachePackCommand() *cobra.Command {
	var r eval.PackRequest
	references := 0
	cmd := command("pack [SELECTOR...] -o FILE", "Write the stored answers of cells into a file",
		`Pack writes one file with the stored answers of the nodes that selectors match,
or of all nodes, and the content that they refer to. Unpack adds it to another
store, on a machine that shares only the file with this one: by a cache of a CI
system, an artifact, a bucket. Stale nodes have no answers and are omitted.

With --run it also contains the record of a run, which merge reads. With
--references it contains the answers of validate --reference --repeat N.`,
		`  fevalgraph cache pack -o cells.pack
  fevalgraph cache pack problem=kvstore -o kvstore.pack
  fevalgraph cache pack --cells shards.json --shard 2/4 --run latest -o 2.pack`,
		func(cmd *cobra.Command, args []string) error {
			if r.File == "" {
				return usageError(cmd, errors.New("pack needs a file to write: -o FILE"))
			}
			r.Targets = args
			o := a.options()
			o.References = max(references, 0)
			p, err := eval.Pack(cmd.Context(), o, r)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(packObject{1, r.File, p.Records, p.Blobs, p.Bytes, p.Stale})
			}
			if !a.flags.quiet {
				fmt.Fprintf(a.io.Out, "%s: %s, %s (%s)\n", r.File, text.Count(p.Records, "record"), text.Count(p.Blobs, "blob"), text.Bytes(p.Bytes))
				if p.Stale > 0 {
					fmt.Fprintf(a.io.Err, "left out: %s, stale\n", text.Count(p.Stale, "node"))
				}
			}
			return nil
		})
	cmd.Args = cobra.ArbitraryArgs
	flags := cmd.Flags()
	flags.StringVarP(&r.File, "output", "o", "", "`FILE` to write")
	flags.StringVar(&r.Run, "run", "", "add the record of `RUN`, an id or latest, for merge")
	flags.IntVar(&references, "references", 0, "also the solutions that problems ship, `N` repeats of each")
	flags.StringVar(&r.Shard, "shard", "", "only the `I/N`th part of every suite, or of --cells, or the tasks that are shared")
	flags.StringVar(&r.Cells, "cells", "", "only the cells that a `FILE` lists, as of run")
	return cmd
}

func (a *app) cacheUnpackCommand() *cobra.Command {
	var sign bool
	cmd := command("unpack FILE...", "Add the content of packs to the store",
		`Unpack adds the content of packs to the store, so that the next run finds it.
Several files can be given, in any order. It adds nothing of a damaged file.

A record counts only if you, or your group (FEVALGRAPH_STORE_KEY), signed it. In
a CI system each machine has a separate key: give all of them the group's, or
use --sign.`,
		`  fevalgraph cache unpack cells.pack
  fevalgraph cache unpack --sign shard-*.pack`,
		func(cmd *cobra.Command, args []string) error {
			p, err := packs.Unpack(cmd.Context(), a.options(), args, sign)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(unpackedObject{1, p.Records, p.Kept, p.Foreign, p.Blobs, p.Bytes})
			}
			if !a.flags.quiet {
				fmt.Fprintf(a.io.Out, "unpacked %s and %s (%s)\n", text.Count(p.Records, "record"), text.Count(p.Blobs, "blob"), text.Bytes(p.Bytes))
			}
			a.printRemark("%s", describe.ForeignRecords(p.Foreign))
			return nil
		})
	cmd.Args = arguments(1, 1<<20, "a FILE")
	cmd.Flags().BoolVar(&sign, "sign", false, signUsage)
	return cmd
}

func (a *app) mergeCommand() *cobra.Command {
	var m eval.MergeRequest
	var policy policyFlag
	cmd := command("merge [DIR|FILE...]", "Merge shard runs into one",
		`Merge merges runs that evaluated parts of the cells elsewhere into one. A FILE
is written by cache pack --run latest, a DIR is the directory of a project whose
store this one must share. Results that were fresh when the work was divided
come from the store.

Merge executes only sums. A cell that no shard evaluated is broken, and so is
every cell of a missing shard, which exits with 3.

`+policyHelp(),
		`  fevalgraph merge --shards shards.json shard-*.pack
  fevalgraph merge ../a ../b`,
		func(cmd *cobra.Command, args []string) error {
			m.Inputs, m.Policy = args, policy.policy
			_, err := a.present(eval.Request{Policy: m.Policy}, "", true, func(r eval.Request) (*eval.Outcome, error) {
				m.Progress = r.Progress
				return eval.Merge(cmd.Context(), a.options(), m)
			})
			return err
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&m.Division, "shards", "", "`FILE` printed by plan --shards --json, which lists the cells of each shard")
	cmd.Flags().BoolVar(&m.Adopt, "sign", false, signUsage)
	policy.add(cmd, "pass policy for the exit code, instead of the problems' own")
	return cmd
}
