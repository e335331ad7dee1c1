package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
)

// The page has every kind of figure, and the files have the same data.
func TestFigures(t *testing.T) {
	p := gallery(12, 3)
	_, document, _ := written(t, p, "out.html")
	pieces := unpack(t, document)
	var x index
	if err := json.Unmarshal(pieces["index"], &x); err != nil {
		t.Fatal(err)
	}
	var s sheet
	if err := json.Unmarshal(pieces[x.Figures], &s); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	names, err := p.WriteFigures(dir)
	if err != nil || len(names) != 2*len(s.Figures) {
		t.Fatalf("%d files of %d figures: %v", len(names), len(s.Figures), err)
	}
	kinds := map[string]bool{}
	for _, f := range s.Figures {
		kinds[f.Kind] = true
		data, err := os.ReadFile(filepath.Join(dir, f.Name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(data), "\r\n"); got != len(f.Rows)+1 || len(f.Rows) == 0 {
			t.Errorf("%s: %d lines for %d rows", f.Name, got, len(f.Rows))
		}
		if len(f.Wide.Shapes) == 0 || len(f.Narrow.Shapes) == 0 || f.Narrow.Width >= f.Wide.Width {
			t.Errorf("%s: drawings of %d and %d shapes", f.Name, len(f.Wide.Shapes), len(f.Narrow.Shapes))
		}
	}
	for _, kind := range []string{"leaderboard", "pairs", "checkpoints", "matrix", "spread", "tradeoff", "history", "durations"} {
		if !kinds[kind] {
			t.Errorf("figure %s not found", kind)
		}
	}
}

// Labels that differ only in characters that file names omit have separate figures.
func TestFigureNames(t *testing.T) {
	p := gallery(4, 1)
	last := p.Runs[len(p.Runs)-1].Results
	for i := range last.Cells {
		labels := last.Cells[i].Labels
		labels["a b"], labels["a/b"] = labels["model"], labels["model"]
	}
	names, err := p.WriteFigures(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"leaderboard-a_b-solved.svg", "leaderboard-a_b-solved-2.svg"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing among %v", name, names)
		}
	}
}

// Boards have what k attempts give where there are repeats, and only then.
func TestBestOfAttempts(t *testing.T) {
	best := func(repeats int) []*float64 {
		r := galleryRun("r", 12, repeats, 0)
		x := newIndex(&Page{Runs: []Run{{Results: r}}, Words: func(report.Checkpoint) []string { return nil }}, r.Entries(), contendersOf(r))
		return x.Leaders[0].Rows[0].Best
	}
	if got := best(1); got != nil {
		t.Errorf("of one attempt: %v", got)
	}
	got := best(3)
	if len(got) != 3 || *got[0] > *got[1] || *got[1] > *got[2] {
		t.Fatalf("%v", got)
	}
}

// A reader of a board learns that clusters of problems count.
func TestBoardOfClusters(t *testing.T) {
	r := galleryRun("r", 24, 1, 0)
	for i := range r.Cells {
		r.Cells[i].Cluster = r.Cells[i].Problem[:1]
	}
	x := newIndex(&Page{Runs: []Run{{Results: r}}, Words: func(report.Checkpoint) []string { return nil }}, r.Entries(), contendersOf(r))
	if note := x.Leaders[0].Note; !strings.Contains(note, "clusters") {
		t.Errorf("the note is %q", note)
	}
}

func TestConcerns(t *testing.T) {
	r := galleryRun("r", 12, 2, 0)
	r.Cells[0].Checkpoints[0].Vacuous, r.Cells[0].Checkpoints[1].State = true, "stale"
	got := concernsOf(r.Entries())
	var kinds []string
	for _, c := range got {
		kinds = append(kinds, c.Kind)
		if c.Kind == "failed" && !strings.HasPrefix(c.Text, "test_") {
			t.Errorf("no reason: %+v", c)
		}
		if c.Kind == "broken" && (c.Checkpoints != 2 || len(c.Cells) != 2 || !strings.Contains(c.Text, "daemon went away")) {
			t.Errorf("%+v", c)
		}
	}
	if want := []string{"broken", "stale", "flaky", "vacuous", "failed"}; !slices.Equal(slices.Compact(kinds), want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

// A selective run is compared with a run of the same selection, or of all.
func TestSince(t *testing.T) {
	whole, some, other := Run{}, Run{Partial: true, Selection: "a"}, Run{Partial: true, Selection: "b"}
	for _, test := range []struct {
		runs []Run
		want int
	}{
		{[]Run{whole}, -1},
		{[]Run{whole, some, whole}, 0},
		{[]Run{some, other, some}, 0},
		{[]Run{other, some}, 0},
		{[]Run{whole, whole, some, other}, 1},
	} {
		if got := sinceOf(test.runs); got != test.want {
			t.Errorf("%+v: %d, want %d", test.runs, got, test.want)
		}
	}
}
