package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// boards evaluates the result blocks over cells.
func boards(t *testing.T, blocks string, cells ...report.Cell) ([]Leaderboard, error) {
	t.Helper()
	p := newProject(t, problem+blocks)
	return p.plan.Leaderboards(&report.Results{Cells: cells})
}

// cell has one checkpoint a with a number of passed core tests of two.
func cell(solution, backend string, core int, labels ...string) report.Cell {
	c := report.Cell{Problem: "kv", Solution: solution, Backend: backend, Repeat: 1, Suites: []string{"default"}, Status: verdict.Success,
		Checkpoints: []report.Checkpoint{{Name: "a", Class: verdict.Judged, Passed: core == 2, Groups: verdict.GroupCounts{verdict.Core: {Passed: core, Total: 2}}}}}
	for i := 0; i < len(labels); i += 2 {
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[labels[i]] = labels[i+1]
	}
	return c
}

func TestLeaderboard(t *testing.T) {
	cells := []report.Cell{
		cell("weak", "local.one", 0, "size", "small"), cell("middle", "local.one", 1, "size", "small"),
		cell("weak", "local.two", 1, "size", "small"), cell("strong", "local.one", 2, "size", "large"), cell("plain", "local.one", 2),
	}
	cells[4].Status, cells[4].Checkpoints = verdict.Broken, nil
	for i, scores := range map[int][2]float64{0: {50, 50}, 2: {0, 550}, 3: {0, 0}} {
		cells[i].Score, cells[i].ScoreUnbounded = &scores[0], &scores[1]
	}
	for _, try := range []struct {
		name, body string
		want       [][]string
		err        string
	}{
		{name: "by solution", body: `
  group_by = ["solution"]
  metric "core" { value = self.core.passed / max(self.core.total, 1) }
  metric "solved" { value = alltrue([for c in self.checkpoints : c.passed]) }
  metric "cells" { value = self.cells }
  sort = ["-core", "solution"]`,
			want: [][]string{{"strong", "1", "true", "1", "1 of 1"}, {"middle", "0.5", "false", "1", "1 of 1"}, {"weak", "0.25", "false", "2", "2 of 2"}, {"plain", "-", "-", "1", "0 of 1"}}},
		{name: "by two axes, in order of the results", body: `
  group_by = ["backend", "solution"]
  metric "n" { value = self.total.passed }`,
			want: [][]string{{"local.one", "weak", "0", "1 of 1"}, {"local.one", "middle", "1", "1 of 1"}, {"local.two", "weak", "1", "1 of 1"}, {"local.one", "strong", "2", "1 of 1"}, {"local.one", "plain", "-", "0 of 1"}}},
		{name: "scores", body: `
  group_by = ["solution"]
  metric "score" { value = self.score }
  metric "unbounded" { value = self.score_unbounded }
  metric "scored" { value = self.scored }
  sort = ["-score"]`,
			want: [][]string{{"weak", "25", "300", "2", "2 of 2"}, {"strong", "0", "0", "1", "1 of 1"}, {"middle", "-", "-", "0", "1 of 1"}, {"plain", "-", "-", "0", "0 of 1"}}},
		{name: "by label", body: `
  group_by = ["size"]
  metric "broken" { value = self.cells_broken }
  metric "label" { value = try(self.labels.size, "none") }
  sort = ["size"]`,
			want: [][]string{{"", "1", "none", "0 of 1"}, {"large", "0", "large", "1 of 1"}, {"small", "0", "small", "3 of 3"}}},
		{name: "where", body: `
  where    = self.cells_success == 1 && self.backend == "local.one"
  group_by = ["solution"]
  metric "p" { value = self.core.passed }
  sort = ["p"]`,
			want: [][]string{{"weak", "0"}, {"middle", "1"}, {"strong", "2"}}},
		{name: "no rows remain", body: `
  where    = false
  group_by = ["solution"]
  metric "p" { value = 1 }`},
		{name: "format", body: `
  where    = self.solution == "middle"
  group_by = ["problem"]
  metric "percent" {
    value  = 100 * self.core.passed / self.core.total
    format = "%.1f%%"
  }
  metric "third" { value = 1 / 3 }
  metric "many" { value = 1234567 }
  metric "none" { value = null }
  metric "text" { value = "x" }`,
			want: [][]string{{"kv", "50.0%", "0.3333", "1234567", "-", "x"}}},
		{name: "null comes first", body: `
  group_by = ["solution"]
  metric "m" { value = self.core.passed == 1 ? null : self.core.passed }
  sort = ["m", "solution"]`,
			want: [][]string{{"middle", "-", "1 of 1"}, {"plain", "-", "0 of 1"}, {"weak", "-", "2 of 2"}, {"strong", "2", "1 of 1"}}},
		{name: "truth is ordered", body: `
  group_by = ["solution"]
  metric "m" { value = self.core.passed > 0 }
  sort = ["-m", "-solution"]`,
			want: [][]string{{"weak", "true", "2 of 2"}, {"strong", "true", "1 of 1"}, {"middle", "true", "1 of 1"}, {"plain", "-", "0 of 1"}}},
		{name: "where fails", body: `
  where    = self.checkpoints[7].passed
  group_by = ["solution"]
  metric "m" { value = 1 }`, err: "Invalid index"},
		{name: "metric fails", body: `
  group_by = ["solution"]
  metric "m" { value = self.checkpoints[7].score }`, err: `result "board"`},
		{name: "format of another kind", body: `
  group_by = ["solution"]
  metric "m" {
    value  = 1
    format = "%d"
  }`, err: `metric "m": the format "%d" does not fit its value: %!d(float64=1)`},
	} {
		got, err := boards(t, "result \"board\" {\n  from = suite.default\n"+try.body+"\n}", cells...)
		if try.err != "" {
			if err == nil || !strings.Contains(err.Error(), try.err) {
				t.Errorf("%s: %v, want %s", try.name, err, try.err)
			}
			continue
		}
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v, %d boards", try.name, err, len(got))
			continue
		}
		if diff := cmp.Diff(try.want, got[0].Rows); diff != "" {
			t.Errorf("%s (-want +got)\n%s", try.name, diff)
		}
		if n := len(got[0].Header); len(got[0].Rows) > 0 && n != len(got[0].Rows[0]) {
			t.Errorf("%s: %d columns have a header", try.name, n)
		}
	}
}

func TestLeaderboardWithoutResults(t *testing.T) {
	got, err := boards(t, "result \"board\" {\n  from = suite.default\n  metric \"m\" { value = 1 }\n}")
	if err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLeaderboardOfARun evaluates exactly what was judged.
func TestLeaderboardOfARun(t *testing.T) {
	p := newProject(t, problem+`result "board" {
  from     = suite.default
  group_by = ["solution"]
  metric "solved" { value = length([for c in self.checkpoints : c if c.passed]) }
  metric "regressions" { value = self.regression.total - self.regression.passed }
  sort = ["-solved"]
}`)
	_, results := p.execute(t.Context(), graph.Options{})
	got, err := p.plan.Leaderboards(results)
	want := []Leaderboard{{Name: "board", Header: []string{"solution", "solved", "regressions"}, Rows: [][]string{{"good", "2", "0"}, {"half", "1", "1"}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
