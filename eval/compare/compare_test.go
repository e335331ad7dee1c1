package compare

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// results returns the results of a run in which only some solutions passed.
func results(run string, passed map[string]bool) *report.Results {
	r := &report.Results{Schema: report.Schema, Run: run}
	for _, solution := range []string{"a", "b"} {
		if ok, there := passed[solution]; there {
			r.Cells = append(r.Cells, report.Cell{Problem: "p", Solution: solution, Backend: "local.host", Repeat: 1,
				Checkpoints: []report.Checkpoint{{Name: "c", Class: verdict.Judged, Passed: ok}}})
		}
	}
	return r
}

// project returns a comparison in a directory with files of results; now is its current state.
func project(t *testing.T, now *report.Results, stale map[string]string, files map[string]*report.Results) *Comparison {
	t.Helper()
	dir := t.TempDir()
	for name, r := range files {
		var text bytes.Buffer
		if err := report.Write(&text, "json", r, report.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "state"), "FEVALGRAPH_CACHE_DIR": filepath.Join(dir, "store")}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	return &Comparison{Options: &options.Options{Inputs: lang.Inputs{Dir: dir}, LookupEnv: lookup},
		Now: func(context.Context) (*report.Results, map[string]string, error) { return now, stale, nil }}
}

func TestFilesOfResults(t *testing.T) {
	c := project(t, nil, nil, map[string]*report.Results{
		"before.json": results("1", map[string]bool{"a": true, "b": true}),
		"after.json":  results("2", map[string]bool{"a": true, "b": false}),
	})
	d, err := c.Runs(t.Context(), "before.json", "after.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Before != "1" || d.After != "2" || d.Summary() != "1 lost, 1 the same" {
		t.Errorf("from %s to %s: %s", d.Before, d.After, d.Summary())
	}
	if d, err = c.Runs(t.Context(), "before.json", "after.json", []string{"p/a"}); err != nil || d.Summary() != "1 the same" {
		t.Errorf("of one solution: %v, %v", d, err)
	}
	if _, err = c.Runs(t.Context(), "before.json", "after.json", []string{"p/absent"}); err == nil {
		t.Error("a selector without cells is not rejected")
	}
}

// Comparing with the current tree uses valid verdicts: others are stale, with their cause.
func TestNow(t *testing.T) {
	now := results("", map[string]bool{"a": true, "b": true})
	now.Cells[1].Checkpoints[0].State = "stale"
	judged := plan.ResultCell(&now.Cells[1]).At("c").String()
	c := project(t, now, map[string]string{judged: "tests: test_c.py changed"}, map[string]*report.Results{
		"before.json": results("1", map[string]bool{"a": true, "b": true}),
	})
	d, err := c.Runs(t.Context(), "before.json", Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.After != Now || len(d.Changes) != 1 || d.Changes[0].Kind != report.ChangeStale ||
		!slices.Equal(d.Changes[0].Causes, []string{"tests: test_c.py changed"}) {
		t.Errorf("to %s: %+v", d.After, d.Changes)
	}
}

func TestSolutions(t *testing.T) {
	c := project(t, nil, nil, map[string]*report.Results{"run.json": results("1", map[string]bool{"a": false, "b": true})})
	d, err := c.Solutions(t.Context(), "run.json", "a", "b", nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Before != "a" || d.After != "b" || d.Count(report.ChangeWon) != 1 {
		t.Errorf("from %s to %s: %s", d.Before, d.After, d.Summary())
	}
	if _, err := c.Solutions(t.Context(), "run.json", "a", "absent", nil); err == nil || !strings.Contains(err.Error(), `no solution "absent"`) {
		t.Errorf("a solution that is not there: %v", err)
	}
}

// A side that is not found is a user error, which contains the query.
func TestNoSide(t *testing.T) {
	c := project(t, nil, nil, map[string]*report.Results{"run.json": results("1", nil)})
	dir := c.Options.Dir
	if err := os.WriteFile(filepath.Join(dir, "text.json"), []byte("{}x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"absent.json": "absent.json",
		"text.json":   "not an output of `fevalgraph results --format json`",
		"folder":      "is not a project with recorded runs",
		"folder@1":    "is not a project with recorded runs",
	} {
		_, err := c.Runs(t.Context(), name, "run.json", nil)
		var coded *exit.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &coded) || coded.Class != exit.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIsRun(t *testing.T) {
	c := project(t, nil, nil, map[string]*report.Results{"20260101-000000": results("1", nil)})
	for name, want := range map[string]bool{
		"latest": true, "20260102-000000": true, "0102": true,
		"20260101-000000": false, // a file
		Now:               false, "dir@latest": false, "a/b": false, "results.json": false,
	} {
		if isRun(c.Options, name) != want {
			t.Errorf("%s is a run: %v", name, !want)
		}
	}
}
