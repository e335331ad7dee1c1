package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// importFlags select results of another tool to show. They do not exist without an importer.
type importFlags struct {
	importer *plan.Importer
	file     string // "" means none
	counted  bool
}

func (f *importFlags) add(cmd *cobra.Command) {
	if f.importer == nil {
		return
	}
	cmd.Flags().StringVar(&f.file, "import", "", "also show the results in "+f.importer.Source+" for the same files")
	cmd.Flags().BoolVar(&f.counted, "count-imported", false, "count imported scores and statuses")
}

// help returns a paragraph for the command's help.
func (f *importFlags) help() string {
	if f.importer == nil {
		return ""
	}
	return f.importer.Help + "\n\n"
}

func (f *importFlags) check() error {
	if f.counted && f.file == "" {
		return errors.New("--count-imported requires --import")
	}
	return nil
}

// addImported adds cells for imported results, and reports omitted ones.
func (a *app) addImported(ctx context.Context, results *report.Results, f *importFlags) error {
	if f.file == "" {
		return nil
	}
	imported, err := eval.Import(ctx, a.options(), results, f.file, f.counted)
	if err != nil {
		return err
	}
	if a.flags.quiet {
		return nil
	}
	told := fmt.Sprintf("%s: %d of %d results are for files that are equal here", f.file, len(imported.Cells), imported.All)
	if skipped := imported.Count(); len(skipped) > 0 {
		told += "; left out: " + strings.Join(skipped, ", ")
	}
	a.printRemark("%s\n", told)
	if a.flags.verbose {
		for _, s := range imported.Skipped {
			a.printRemark("  %s: %s\n", s.Name, s.Why)
		}
	}
	return nil
}
