package causes

import (
	"context"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// work is a task whose output is the content of a file.
type work struct{ file, content string }

func (w work) Describe(_ context.Context, m *graph.Manifest) error {
	m.String("file "+w.file, w.content)
	return nil
}

func (w work) Run(ctx context.Context, on *graph.Work) (graph.Outcome, error) {
	d, err := cache.PutBytes(ctx, on.Store, []byte(w.content))
	return graph.Outcome{Outputs: []cache.Output{{Name: "out", Digest: d}}}, err
}

var cell = report.Cell{Problem: "p", Solution: "s", Backend: "local.host", Repeat: 1}

// judge grades the checkpoint of cell, with a submission and a limit.
func judge(t *testing.T, store cache.Store, submission, limit string) Side {
	t.Helper()
	g := graph.New()
	below := g.Add(graph.Node{Addr: "submission:p/s", Kind: "submission", Task: work{"kv.py", submission}})
	id := plan.ResultCell(&cell).At("a")
	grader := g.Add(graph.Node{Addr: id.GradedAt()[0], Kind: plan.KindScore, Task: work{"limit", limit},
		Deps: []graph.Dep{{On: below, As: "submission", Outputs: []string{"out"}}}})
	r, err := g.Execute(t.Context(), []graph.ID{grader}, graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := g.RowsOf([]graph.ID{grader}, r)
	if len(rows) != 2 {
		t.Fatalf("there are %d rows", len(rows))
	}
	return Side{Store: store, Nodes: func(fn func(row *Row, deps []string)) error {
		for i := range rows {
			var deps []string
			for _, at := range rows[i].Deps {
				deps = append(deps, rows[at].Addr)
			}
			fn(&rows[i], deps)
		}
		return nil
	}}
}

func changes(t *testing.T, before, after Side, was, is report.Checkpoint, kind report.ChangeKind) report.Change {
	t.Helper()
	f, err := NewFinder(before, after)
	if err != nil {
		t.Fatal(err)
	}
	d := &report.Difference{Changes: []report.Change{{Cell: &cell, Was: &was, Is: &is, Kind: kind, Name: "p/a/s@local.host"}}}
	if err := f.Changes(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	return d.Changes[0]
}

func TestChanges(t *testing.T) {
	store := cache.NewMemory()
	first := judge(t, store, "one", "1s")
	message := func(text string) report.Checkpoint { return report.Checkpoint{Name: "a", Message: &text} }
	refused := message("a link leads out")
	refused.Class = verdict.Refused
	plain := report.Checkpoint{Name: "a"}
	for _, try := range []struct {
		name    string
		after   Side
		was, is report.Checkpoint
		kind    report.ChangeKind
		want    []string
		becomes report.ChangeKind
	}{
		{"a submission", judge(t, store, "two", "1s"), plain, plain, report.ChangeLost, []string{"submission: kv.py changed"}, report.ChangeLost},
		{"a limit", judge(t, store, "one", "2s"), plain, plain, report.ChangeLost, []string{"limit changed"}, report.ChangeLost},
		{"both", judge(t, store, "two", "2s"), plain, plain, report.ChangeWon, []string{"limit changed", "submission: kv.py changed"}, report.ChangeWon},
		{"nothing", first, plain, plain, report.ChangeLost, []string{same}, report.ChangeFlaky},
		{"a machine that broke", first, plain, message("no room"), report.ChangeBroken, []string{"no room"}, report.ChangeBroken},
		{"a repaired machine", first, message("no room"), plain, report.ChangeJudged, []string{"it was broken: no room"}, report.ChangeJudged},
		{"a submission that is refused", judge(t, store, "two", "1s"), plain, refused, report.ChangeLost, []string{"submission refused: a link leads out"}, report.ChangeLost},
		{"a record that is gone", func() Side {
			s := judge(t, cache.NewMemory(), "two", "1s")
			s.Store = cache.NewMemory()
			return s
		}(), plain, plain, report.ChangeLost, nil, report.ChangeLost},
	} {
		got := changes(t, first, try.after, try.was, try.is, try.kind)
		if slices.Sort(got.Causes); !slices.Equal(got.Causes, try.want) || got.Kind != try.becomes {
			t.Errorf("%s: %s, %q; want %s, %q", try.name, got.Kind, got.Causes, try.becomes, try.want)
		}
	}
}

// Cells that were judged again, with the same verdict, are counted by cause.
func TestAgain(t *testing.T) {
	store := cache.NewMemory()
	f, err := NewFinder(judge(t, store, "one", "1s"), judge(t, store, "two", "1s"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Again(t.Context(), func(string) bool { return false })
	if err != nil || len(again) != 1 || again[0].Checkpoints != 1 || !slices.Equal(again[0].Causes, []string{"submission: kv.py changed"}) {
		t.Errorf("%+v, %v", again, err)
	}
	if again, err = f.Again(t.Context(), func(string) bool { return true }); err != nil || len(again) != 0 {
		t.Errorf("what changed is counted again: %+v, %v", again, err)
	}
}
