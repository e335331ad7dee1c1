package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/frontier"
)

// importFlags say which results of another tool are shown, and as what.
type importFlags struct {
	file    string // "" is none
	counted bool
}

func (f *importFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "import", "", "show what a `STATE` of Frontier-CS's batches says of the same files, too")
	cmd.Flags().BoolVar(&f.counted, "count-imported", false, "believe what is imported: its scores and statuses count")
}

func (f *importFlags) check() error {
	if f.counted && f.file == "" {
		return errors.New("--count-imported: nothing is imported; name a state with --import")
	}
	return nil
}

// addImported adds cells for what a state says, and tells what it leaves out.
func (a *app) addImported(ctx context.Context, results *report.Results, f importFlags) error {
	if f.file == "" {
		return nil
	}
	text, err := os.ReadFile(f.file)
	if err != nil {
		return exit(exitUsage, fmt.Errorf("reading what to import: %w", err))
	}
	state, err := frontier.DecodeState(text)
	if err != nil {
		return exit(exitUsage, fmt.Errorf("reading what to import: %s: %w; nothing of it is imported", f.file, err))
	}
	p, err := a.open(ctx, a.langOptions(), reading)
	if err != nil {
		return err
	}
	defer p.close()
	imported, err := p.plan.Import(state, f.file, f.counted)
	if err != nil {
		return exit(exitUsage, fmt.Errorf("importing %s: %w", f.file, err))
	}
	results.Cells = append(results.Cells, imported.Cells...)
	results.Sort(nil)
	if a.flags.quiet {
		return nil
	}
	told := fmt.Sprintf("%s: %d of %d results are of the files as they are here", f.file, len(imported.Cells), len(state.Results))
	if left := imported.Count(); len(left) > 0 {
		told += "; left out: " + strings.Join(left, ", ")
	}
	fmt.Fprintln(a.io.Err, told)
	if a.flags.verbose {
		for _, l := range imported.Left {
			fmt.Fprintf(a.io.Err, "  %s: %s\n", l.Pair, l.Why)
		}
	}
	return nil
}
