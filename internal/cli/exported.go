package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/google/renameio/v2"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// ofGraph reports whether an export needs more than results.
func ofGraph(e *lang.Export) bool { return !slices.Contains(report.Formats(), e.Kind) }

// export writes the files of export blocks, each whole or not at all.
func (p *project) export(ctx context.Context, rep *graph.Report, results *report.Results) error {
	if results == nil {
		return nil
	}
	var errs []error
	for _, e := range p.cfg.Exports {
		if !ofGraph(e) {
			errs = append(errs, exportFailed(e, writeExport(e, results.Suite(e.From.Name))))
		} else {
			errs = append(errs, exportFailed(e, p.exportGraph(ctx, rep, e, results.Suite(e.From.Name))))
		}
	}
	return errors.Join(errs...)
}

func (p *project) exportGraph(ctx context.Context, rep *graph.Report, e *lang.Export, results *report.Results) error {
	if len(results.Cells) == 0 {
		return nil
	}
	i := slices.IndexFunc(p.app.io.Benchmarks, func(b plan.Benchmark) bool { return b.Name == e.Kind && b.Export != nil })
	if i < 0 {
		return errors.New("this program cannot write such files")
	}
	_, err := p.app.io.Benchmarks[i].Export(ctx, plan.Export{Plan: p.plan, Store: p.store, Run: rep, Results: results, Suite: e.From.Name, Dir: e.Path})
	return err
}

// writeExport writes the file, unless the export's suite has no cells.
func writeExport(e *lang.Export, results *report.Results) error {
	if len(results.Cells) == 0 {
		return nil
	}
	var content bytes.Buffer
	err := report.Write(&content, e.Kind, results, report.Options{})
	if err == nil {
		err = writeWhole(e.Path, content.Bytes())
	}
	return err
}

func exportFailed(e *lang.Export, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("export %q %q: %w", e.Kind, e.Name, err)
}

func writeWhole(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err := renameio.WriteFile(path, content, 0o644)
	if errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: the file system is read-only", err)
	}
	return err
}
