package history

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// The run that judged a cell can have been killed before its results were written, or its record removed.
func TestNodesWithoutRecord(t *testing.T) {
	const run = "20260101-000000-abcdef"
	state := event.Records{Dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(state.Dir, "runs", run), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{run, "20260101-000000-123456"} {
		j := JudgedIn(&report.Results{Run: id, Cells: []report.Cell{{Problem: "kv", Solution: "good", Checkpoints: []report.Checkpoint{{Name: "one"}}}}})
		err := j.Nodes(state, func(row *graph.Row, _ []string) { t.Errorf("run %s: node %s", id, row.Addr) })
		if err != nil {
			t.Errorf("run %s: %v", id, err)
		}
	}
}

func TestOwner(t *testing.T) {
	j := JudgedIn(&report.Results{Run: "run", Cells: []report.Cell{
		{Problem: "kv", Solution: `agent["a/b"]`, Backend: "local.host", Repeat: 1, Checkpoints: []report.Checkpoint{{Name: "one"}, {Name: "two"}}},
		{Problem: "kv", Solution: "good", Backend: "local.host", Repeat: 2, Checkpoints: []report.Checkpoint{{Name: "one"}}},
		{Problem: "knapsack", Solution: "greedy", Backend: "gojudge.box", Repeat: 1, Checkpoints: []report.Checkpoint{{}}},
	}})
	for addr, want := range map[string]string{
		`pytest:kv/one/agent["a/b"]@local.host`:                    `kv/one/agent["a/b"]@local.host`,
		`pytest:kv/one/agent["a/b"]@local.host/test_checkpoint.py`: `kv/one/agent["a/b"]@local.host`,
		`aggregate:kv/agent["a/b"]@local.host`:                     `kv/agent["a/b"]@local.host`,
		`parse:kv/one/good@local.host#2`:                           `kv/one/good@local.host#2`,
		`parse:kv/one/good@local.host`:                             "",
		`run:knapsack/case_1/greedy@gojudge.box`:                   "knapsack/greedy@gojudge.box",
		`compile:knapsack/greedy@gojudge.box`:                      "knapsack/greedy@gojudge.box",
		`run:knapsack/case_1/other@gojudge.box`:                    "",
		`checker:knapsack@gojudge.box`:                             "",
		`submission:kv/one/good`:                                   "",
		`tests:kv/one`:                                             "",
		`aggregate:suite.default`:                                  "",
		`image:docker.box`:                                         "",
	} {
		got, ok := j.Owner(addr)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s belongs to %q, %v, want %q", addr, got, ok, want)
		}
	}
}
