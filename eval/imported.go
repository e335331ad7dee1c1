package eval

import (
	"context"
	"fmt"
	"os"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Imported counts the imported results of another tool.
type Imported struct {
	plan.Imported
	All int // results in the file
}

// Importer returns the importer of the first benchmark that has one, or nil.
func Importer(o Options) *plan.Importer {
	for _, b := range o.Benchmarks {
		if b.Import != nil {
			return b.Import
		}
	}
	return nil
}

// Import adds the cells in a file of another tool whose files are equal here
// to results. If counted is set, their scores and statuses count. It stores
// nothing.
func Import(ctx context.Context, o Options, results *report.Results, file string, counted bool) (*Imported, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("reading the file to import: %w", err))
	}
	foreign, err := Importer(o).Decode(text)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("importing %s: %w; nothing was imported", file, err))
	}
	p, err := Open(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer p.call.close()
	imported := &Imported{All: foreign.Len()}
	if imported.Imported, err = foreign.Cells(p.Plan, file, counted); err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("importing %s: %w", file, err))
	}
	results.Cells = append(results.Cells, imported.Cells...)
	results.Sort(nil)
	return imported, nil
}
