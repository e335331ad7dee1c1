package eval_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/page"
)

func newProject(t *testing.T) eval.Options {
	t.Helper()
	dir := t.TempDir()
	if err := lay(dir, example); err != nil {
		t.Fatal(err)
	}
	return optionsFor(dir)
}

// class returns the class of an error of the package.
func class(t *testing.T, err error) exit.Class {
	t.Helper()
	var e *exit.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *exit.Error", err)
	}
	return e.Class
}

func TestClassesOfErrors(t *testing.T) {
	ctx, o := t.Context(), newProject(t)
	if _, err := eval.Results(o, "latest"); class(t, err) != exit.Usage || !errors.Is(err, event.ErrNoRuns) {
		t.Errorf("results before there are any: %v", err)
	}
	_, err := eval.Run(ctx, o, eval.Request{Selection: eval.Selection{Targets: []string{"solution=none"}}})
	if class(t, err) != exit.NoMatch {
		t.Errorf("a selector of nothing: %v", err)
	}
	if err := lay(o.Dir, map[string]string{"fevalgraph.hcl": "problem {}\n"}); err != nil {
		t.Fatal(err)
	}
	_, err = eval.Run(ctx, o, eval.Request{})
	var findings diag.List
	if class(t, err) != exit.Usage || !errors.As(err, &findings) {
		t.Errorf("an invalid configuration: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	o = newProject(t)
	if out, err := eval.Run(ended, o, eval.Request{}); out == nil || out.Exit != exit.Interrupted {
		t.Errorf("a run whose context has ended: %+v, %v", out, err)
	}
}

// Plan, Explain and Status write nothing.
func TestReadersWriteNothing(t *testing.T) {
	ctx, o := t.Context(), newProject(t)
	d, err := eval.Plan(ctx, o, eval.Request{})
	if err != nil || d.Fresh != 0 || !d.Stale {
		t.Fatalf("%+v, %v", d, err)
	}
	if _, err := eval.Explain(ctx, o, "score:double/small@local.host"); err != nil {
		t.Error(err)
	}
	all, _, err := eval.Status(ctx, o, eval.Selection{})
	if err != nil || len(all) != 2 || all[0].Last != nil || all[0].State != "new" {
		t.Errorf("%+v, %v", all, err)
	}
	for _, path := range []string{o.StateDir(), filepath.Join(o.Dir, "store")} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
}

func TestStatusAfterRun(t *testing.T) {
	ctx, o := t.Context(), newProject(t)
	if _, err := eval.Run(ctx, o, eval.Request{}); err != nil {
		t.Fatal(err)
	}
	if err := lay(o.Dir, map[string]string{"small.txt": "4\n"}); err != nil {
		t.Fatal(err)
	}
	all, _, err := eval.Status(ctx, o, eval.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	states := map[plan.CellID]string{}
	for _, one := range all {
		if one.Last == nil {
			t.Errorf("%+v: last verdict not found", one)
		}
		states[one.Cell] = one.State
	}
	cell := plan.CellID{Problem: "double", Solution: "small", Backend: "local.host", Repeat: 1}
	other := cell
	other.Solution = "large"
	if states[cell] != "stale" || states[other] != eval.Fresh {
		t.Errorf("%v", states)
	}
}

// A page without names shows the current project: also cells that the latest run did not select, with the nodes of the
// run that judged them.
func TestReportIsAboutThePresent(t *testing.T) {
	ctx, o := t.Context(), newProject(t)
	first, err := eval.Run(ctx, o, eval.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if err := lay(o.Dir, map[string]string{"small.txt": "4\n"}); err != nil {
		t.Fatal(err)
	}
	second, err := eval.Run(ctx, o, eval.Request{Selection: eval.Selection{Targets: []string{"solution=small"}}})
	if err != nil {
		t.Fatal(err)
	}
	err = eval.Report(ctx, o, nil, func(p *page.Page) error {
		last := p.Runs[len(p.Runs)-1]
		if len(last.Results.Cells) != 2 || len(p.Runs) != 3 || p.Runs[0].ID != first.Run || p.Runs[1].ID != second.Run {
			t.Fatalf("it is about %s with %d cells, after %d runs", last.ID, len(last.Results.Cells), len(p.Runs)-1)
		}
		for i := range last.Results.Cells {
			nodes, err := p.Nodes(&last.Results.Cells[i])
			if err != nil || len(nodes) == 0 {
				t.Errorf("%s has %d nodes, %v", last.Results.Cells[i].Solution, len(nodes), err)
			}
		}
		if d := p.Runs[0].Difference; len(d.Changes) != 1 || d.Same != 1 || !strings.Contains(d.Changes[0].Cause(), "answer.txt") {
			t.Errorf("since the first run: %+v", d)
		}
		if d := p.Runs[1].Difference; len(d.Changes) != 0 || d.Same != 1 || d.NotAsked != 1 {
			t.Errorf("since the selective run: %+v", d)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// collector keeps the events of a run.
type collector []event.Event

func (c *collector) Emit(e event.Event) { *c = append(*c, e) }

// Progress receives the recorded events, and remarks are returned as values.
func TestProgressAndNotices(t *testing.T) {
	ctx, o := t.Context(), newProject(t)
	var events collector
	out, err := eval.Run(ctx, o, eval.Request{Progress: &events})
	if err != nil {
		t.Fatal(err)
	}
	if start, ok := events[0].(event.RunStart); !ok || start.Run != out.Run {
		t.Errorf("it begins with %+v", events[0])
	}
	if end, ok := events[len(events)-1].(event.RunEnd); !ok || end != out.End {
		t.Errorf("it ends with %+v, and the outcome has %+v", events[len(events)-1], out.End)
	}
	files := filepath.Join(o.StateDir(), "files")
	if err := (proof.Place{}).Write(files, 0o600, nil); err != nil {
		t.Fatal(err)
	}
	var notices []options.Notice
	o.Notify = func(n options.Notice) { notices = append(notices, n) }
	if out, err := eval.Run(ctx, o, eval.Request{}); err != nil || out.End.Executed != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if len(notices) != 1 || notices[0] != (options.StateForeign{Path: files}) {
		t.Errorf("%+v", notices)
	}
}
