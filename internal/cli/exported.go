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

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// exported is an export that follows from results alone, and is written again by
// every run: the run's id is in most of them.
type exported struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Suite string `json:"suite"`
	Path  string `json:"path"`
}

// ofGraph reports whether an export needs more than results. Its files name no
// run: while they and what they were made of stay as they are, nothing has to be
// written.
func ofGraph(e *lang.Export) bool { return e.Kind == plan.KindSCBench || e.Kind == plan.KindFrontier }

// export writes the files of export blocks, each whole or not at all.
func (p *project) export(ctx context.Context, rep *graph.Report, results *report.Results) error {
	if results == nil {
		return nil
	}
	var errs []error
	for _, e := range p.cfg.Exports {
		if !ofGraph(e) {
			errs = append(errs, exportOf(e).write(results))
		} else if err := p.exportGraph(ctx, rep, e, results.Suite(e.From.Name)); err != nil {
			errs = append(errs, exportOf(e).failed(err))
		}
	}
	return errors.Join(errs...)
}

func exportOf(e *lang.Export) exported {
	return exported{Kind: e.Kind, Name: e.Name, Suite: e.From.Name, Path: e.Path}
}

func (p *project) exportGraph(ctx context.Context, rep *graph.Report, e *lang.Export, results *report.Results) error {
	switch {
	case len(results.Cells) == 0:
		return nil
	case e.Kind == plan.KindSCBench:
		return p.plan.ExportSCBench(ctx, p.store, rep, results, e.Path, p.left)
	}
	observe := func(kind, name string) {
		if p.observer != nil {
			p.observer.note(kind, name)
		}
	}
	return p.plan.ExportFrontier(results, "Evaluation Summary - "+e.From.Name, e.Path, p.left, observe)
}

// left implements report.Left: the file has to be as the export left it.
func (p *project) left(path string, content []byte, absent bool) {
	look := cache.Look{Path: path}
	if !absent {
		look.Digest = cache.SumBytes(content)
	}
	p.exports = append(p.exports, look)
}

// exportLooks are the files that exports left.
func (p *project) exportLooks() ([]cache.Look, error) {
	looks := slices.Clone(p.exports)
	for i, l := range looks {
		if _, err := os.Lstat(l.Path); l.Digest.IsZero() && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s appeared again", l.Path)
		}
		absolute, err := filepath.Abs(l.Path)
		if err != nil {
			return nil, err
		}
		looks[i].Path = absolute
	}
	return looks, nil
}

// write writes the file, unless the export's suite has no cells.
func (e exported) write(results *report.Results) error {
	subset := results.Suite(e.Suite)
	if len(subset.Cells) == 0 {
		return nil
	}
	var content bytes.Buffer
	err := report.Write(&content, e.Kind, subset, report.Options{})
	if err == nil {
		err = writeWhole(e.Path, content.Bytes())
	}
	if err != nil {
		return e.failed(err)
	}
	return nil
}

func (e exported) failed(err error) error { return fmt.Errorf("export %q %q: %w", e.Kind, e.Name, err) }

// exportAgain writes what a run in full would have exported, of the results of
// the run that is remembered.
func (p *project) exportAgain(u *unchanged) error {
	if len(u.Exports) == 0 {
		return nil
	}
	results, _, err := p.app.pastResults(p.state, u.Run)
	if err != nil {
		return err
	}
	results.Run = p.run
	var errs []error
	for _, e := range u.Exports {
		errs = append(errs, e.write(results))
	}
	return errors.Join(errs...)
}

func writeWhole(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err := atomicfile.WriteDurable(path, 0o644, content)
	if errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: the file system is read-only", err)
	}
	return err
}
