package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/subpath"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// export writes the files of export blocks atomically. A block writes nothing if its suite has no results.
func (x *execution) export(ctx context.Context, rep *graph.Report, all *report.Results) error {
	if all == nil {
		return nil
	}
	var errs []error
	for _, e := range x.call.Config.Exports {
		results := all.Suite(e.From.Name)
		if len(results.Cells) == 0 {
			continue
		}
		err := staysInside(x.call.Config.Root, e.Path)
		switch {
		case err != nil:
		case slices.Contains(report.Formats(), e.Kind):
			err = exportResults(e, results)
		default:
			err = x.exportBenchmark(ctx, rep, e, results)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("export %q %q: %w", e.Kind, e.Name, err))
		}
	}
	return errors.Join(errs...)
}

// staysInside returns an error if a path in the project's directory now leads out of it, which can happen after
// the configuration was evaluated.
func staysInside(project, path string) error {
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		root = project
	}
	for dir := path; dir != project && subpath.Contains(project, dir); dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			if !subpath.Contains(root, real) {
				return fmt.Errorf("%s leads out of the project, to %s; write there directly, and pass that path as the value of a variable", dir, real)
			}
			return nil
		}
	}
	return nil
}

// withLastResults adds last known results to the results of a run that did not request all cells, and the answers for
// their current keys to its report: an export contains every cell of its suite, regardless of the selection.
func (x *execution) withLastResults(ctx context.Context, whole *report.Results) (*report.Results, *graph.Report, error) {
	missing := plan.Checkpoints(x.call.Config)
	for i := range whole.Cells {
		for _, c := range whole.Cells[i].Listed() {
			delete(missing, plan.ResultCell(&whole.Cells[i]).At(c.Name))
		}
	}
	if len(missing) == 0 {
		return whole, x.rep, nil
	}
	g, err := x.project.pick(ctx, Request{})
	if err != nil {
		return nil, nil, err
	}
	dry, err := g.decide(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	all, err := dry.checkpoints(ctx)
	if err != nil {
		return nil, nil, err
	}
	more := &report.Results{Schema: whole.Schema, Run: whole.Run, Cells: slices.Clone(whole.Cells), Tasks: dry.taskResults()}
	add := appendTo(more)
	for _, one := range all {
		if missing[one.Cell] {
			add(one)
		}
	}
	x.project.Plan.Arrange(more)
	return more, x.rep.With(func(id graph.ID) []cache.Output {
		if st := dry.rep.Status(id); st.State == event.Cached {
			return st.Outputs
		}
		return nil
	}), nil
}

// exportBenchmark writes the files of a benchmark, which can require more than results.
func (x *execution) exportBenchmark(ctx context.Context, rep *graph.Report, e *lang.Export, results *report.Results) error {
	if err := checkNames(results); err != nil {
		return err
	}
	known := x.call.options.Benchmarks
	i := slices.IndexFunc(known, func(b plan.Benchmark) bool { return b.Name == e.Kind && b.Export != nil })
	if i < 0 {
		return errors.New("this version does not support the format")
	}
	return known[i].Export(ctx, plan.Export{Plan: x.project.Plan, Store: x.call.stores.Store, Run: rep, Results: results.Current(), Suite: e.From.Name, Dir: e.Path})
}

// checkNames returns an error if a name that benchmarks use for directories leads out of the parent directory.
func checkNames(r *report.Results) error {
	for i := range r.Cells {
		cell := &r.Cells[i]
		names := []string{cell.Problem, cell.Solution, cell.Backend}
		for _, c := range cell.Listed() {
			names = append(names, c.Name)
		}
		for _, name := range names {
			elements := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == filepath.Separator })
			if slices.Contains(elements, "..") || strings.Contains(name, "\x00") || filepath.IsAbs(name) {
				return fmt.Errorf("%q cannot be the name of a directory: rename the problem, checkpoint or solution", name)
			}
		}
	}
	return nil
}

// exportResults writes results in one of the formats of report.
func exportResults(e *lang.Export, results *report.Results) error {
	var content bytes.Buffer
	if err := report.Write(&content, e.Kind, results, report.Options{}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(e.Path), 0o755); err != nil {
		return err
	}
	err := atomicfile.WriteDurable(e.Path, 0o644, content.Bytes())
	if errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: the file system is read-only", err)
	}
	return err
}
