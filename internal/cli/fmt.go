package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

func (a *app) fmtCommand() *cobra.Command {
	var check bool
	cmd := command("fmt [FILE...]", "Rewrite configuration files in the canonical format",
		`Fmt formats the given files, or all HCL files in the configuration's directory,
and prints the names of changed files. With --check it writes nothing and exits
with 1 if a file would change. "-" formats stdin to stdout.`,
		`  fevalgraph fmt
  fevalgraph fmt --check
  fevalgraph fmt - < fevalgraph.hcl`,
		func(cmd *cobra.Command, args []string) error { return a.runFmt(args, check) })
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().BoolVar(&check, "check", false, "only report files that are not formatted")
	return cmd
}

func (a *app) runFmt(files []string, check bool) error {
	if slices.Equal(files, []string{"-"}) {
		src, err := io.ReadAll(a.io.In)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		out, diags := lang.Format("<stdin>", src)
		if diags.HasErrors() {
			return exit.With(exit.Usage, diags)
		}
		_, err = a.io.Out.Write(out)
		return err
	}
	if len(files) == 0 {
		for _, pattern := range []string{"*.hcl"} {
			found, err := filepath.Glob(filepath.Join(a.flags.dir, pattern))
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			files = append(files, found...)
		}
		if len(files) == 0 {
			return exit.With(exit.Usage, fmt.Errorf("no *.hcl files in %s", filepath.Join(".", a.flags.dir)))
		}
	}
	var all diag.List
	changed := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		out, diags := lang.Format(file, src)
		if diags.HasErrors() {
			all = append(all, diags...)
			continue
		}
		if bytes.Equal(src, out) {
			continue
		}
		changed++
		fmt.Fprintln(a.io.Out, a.escape(file))
		if !check {
			if err := atomicfile.WriteDurable(file, 0o644, out); err != nil {
				return exit.With(exit.Usage, fmt.Errorf("writing %s: %w", file, err))
			}
		}
	}
	switch {
	case all.HasErrors():
		return exit.With(exit.Usage, all)
	case check && changed > 0:
		return exit.With(exit.Failed, nil)
	}
	return nil
}
