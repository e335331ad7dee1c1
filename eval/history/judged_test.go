package history

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
)

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
