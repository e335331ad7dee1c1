package compare

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// logsIn returns options whose only format has logs by the name of a file, and a directory with these files.
func logsIn(t *testing.T, logs map[string]*plan.Log) *options.Options {
	t.Helper()
	dir := t.TempDir()
	for name := range logs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("log"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	format := plan.LogFormat{Name: "test", Title: "a test", Holds: func([]byte) bool { return true }, Read: func(file *os.File) ([]*plan.Log, error) {
		l := *logs[filepath.Base(file.Name())]
		return []*plan.Log{&l}, nil
	}}
	return &options.Options{Inputs: lang.Inputs{Dir: dir}, Benchmarks: []plan.Benchmark{{Logs: []plan.LogFormat{format}}}}
}

// valued returns a log with a value of m at each problem; NaN means that the attempt is lost, infinity that it has no verdict.
func valued(name string, higher map[string]bool, values ...float64) *plan.Log {
	l := &plan.Log{Name: name, Metrics: []string{"m"}, Higher: higher}
	for i, v := range values {
		a := plan.LogAttempt{Problem: string(rune('a' + i)), Repeat: 1, Class: verdict.Judged, Values: map[string]float64{}}
		switch {
		case math.IsNaN(v):
			a.Class = verdict.NoScore
		case !math.IsInf(v, 0):
			a.Values["m"] = v
		}
		l.Attempts = append(l.Attempts, a)
	}
	return l
}

// The direction of a metric decides what is better, everywhere; a lost attempt is worth the worst.
func TestDirection(t *testing.T) {
	low, high := map[string]bool{"m": false}, map[string]bool{"m": true}
	lost := math.NaN()
	for name, c := range map[string]struct {
		higher map[string]bool
		lower  bool
		x, y   []float64
		first  string // of the contenders
		won    int    // from x to y
		note   string
	}{
		"assumed":              {nil, false, []float64{1, 1, 1}, []float64{0, 0, 0}, "x", 0, "higher values of m are assumed to be better; --lower is the opposite"},
		"higher":               {high, false, []float64{1, 1, 1}, []float64{0, 0, 0}, "x", 0, ""},
		"lower, of zero, one":  {low, false, []float64{1, 1, 1}, []float64{0, 0, 0}, "y", 3, "lower values of m are better, according to the files"},
		"lower, of shares":     {low, false, []float64{0.5, 1, 1}, []float64{0.25, 0, 0}, "y", 3, "lower values of m are better, according to the files"},
		"lower, of any number": {nil, true, []float64{500, 20, 3}, []float64{20, 3, 1}, "y", 3, "lower values of m are better"},
		"lower, lost":          {nil, true, []float64{500, 20, 3}, []float64{600, lost, lost}, "x", 0, "lower values of m are better"},
		"lower share, lost":    {low, false, []float64{0.5, 0.5, 0.5}, []float64{0.25, lost, lost}, "x", 1, "lower values of m are better, according to the files"},
	} {
		t.Run(name, func(t *testing.T) {
			o := logsIn(t, map[string]*plan.Log{"1": valued("x", c.higher, c.x...), "2": valued("y", c.higher, c.y...)})
			logs, err := ReadLogs(o, []string{"1", "2"}, "", "", c.lower)
			if err != nil {
				t.Fatal(err)
			}
			if logs.Direction != c.note {
				t.Errorf("the note is %q", logs.Direction)
			}
			all, err := report.Compare(logs.Results, "solution", logs.Metric, nil, "")
			if err != nil || all.All[0].Name != c.first {
				t.Fatalf("the first is %v, %v", all, err)
			}
			if p := all.Pairs[0]; p.Better < p.Less {
				t.Errorf("the first is better at %d problems, and worse at %d", p.Better, p.Less)
			}
			if m := report.MatrixOf(logs.Results); logs.Metric != "unbounded" && m.Solutions[0] != c.first {
				t.Errorf("the matrix has %v", m.Solutions)
			}
			d, err := logs.Difference(nil, nil)
			if err != nil || d.Count(report.ChangeWon) != c.won {
				t.Errorf("%d won, %v", d.Count(report.ChangeWon), err)
			}
		})
	}
	o := logsIn(t, map[string]*plan.Log{"1": valued("x", low, 1), "2": valued("y", high, 1)})
	if _, err := ReadLogs(o, []string{"1", "2"}, "", "", false); err == nil || !strings.Contains(err.Error(), "higher values of m are better in 2, and lower ones in 1") {
		t.Errorf("files with opposite directions: %v", err)
	}
	if _, err := ReadLogs(o, []string{"2"}, "", "", true); err == nil || !strings.Contains(err.Error(), "--lower does not fit") {
		t.Errorf("--lower of a metric whose higher values are better: %v", err)
	}
}

// Values outside of 0 to 1 have no bounded figures, also where some are missing or lost.
func TestUnboundedValues(t *testing.T) {
	o := logsIn(t, map[string]*plan.Log{"1": valued("x", nil, 632, 50, -1, math.Inf(1), math.NaN()), "2": valued("y", nil, 0, 0.5, 1, 2, 3)})
	logs, err := ReadLogs(o, []string{"1", "2"}, "", "", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range report.SummarizeGroups(logs.Results, []string{"solution"}, []int{1}) {
		if g.Score.All.N != 0 || g.Score.Missing != 0 || g.BestOf[0].Known {
			t.Errorf("%s: bounded scores %+v, best of one %+v", g.Group[0], g.Score, g.BestOf[0])
		}
		if want := map[string]float64{"x": (632 + 50 - 1 - 1) / 4.0, "y": 6.5 / 5}[g.Group[0]]; g.Unbounded.All.Mean != want {
			t.Errorf("%s: the mean is %v, want %v", g.Group[0], g.Unbounded.All.Mean, want)
		}
	}
	var table strings.Builder
	if err := report.WriteGroups(&table, "table", logs.Results, []string{"solution"}, nil, report.Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if text := table.String(); !strings.Contains(text, "UNBOUNDED MEAN") || !strings.Contains(text, "3 of 5") || strings.Contains(text, "BOUNDS") || strings.Contains(text, " to ") {
		t.Error(text)
	}
	if _, err := report.Compare(logs.Results, "solution", "score", nil, ""); err == nil {
		t.Error("bounded scores that no cell has are compared")
	}
	if c, err := report.Compare(logs.Results, "solution", "", nil, ""); err != nil || c.Metric != "unbounded" {
		t.Errorf("the usual metric: %+v, %v", c, err)
	}
	if m := report.MatrixOf(logs.Results); m.Pair("a", "x").Missing != 1 {
		t.Errorf("the matrix has a share: %+v", m.Pair("a", "x"))
	}
}

// A log whose every attempt ended by an error has no metric, and hides none of the others.
func TestNoMetric(t *testing.T) {
	none := valued("y", nil, math.Inf(1))
	none.Metrics = nil
	o := logsIn(t, map[string]*plan.Log{"1": none, "2": valued("x", nil, 1)})
	logs, err := ReadLogs(o, []string{"1", "2"}, "", "", false)
	if err != nil || logs.Results.Cells[0].Status != verdict.Broken || logs.Results.Cells[1].Status != verdict.Success {
		t.Errorf("%+v, %v", logs, err)
	}
	if _, err := ReadLogs(o, []string{"1"}, "", "", false); err == nil {
		t.Error("files without any metric are accepted")
	}
}
