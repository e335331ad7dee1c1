package pages

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/page"
)

func TestOwner(t *testing.T) {
	n := &judged{names: map[string]string{}}
	for _, cell := range []report.Cell{
		{Problem: "kv", Solution: `agent["a/b"]`, Backend: "local.host", Repeat: 1, Checkpoints: []report.Checkpoint{{Name: "one"}, {Name: "two"}}},
		{Problem: "kv", Solution: "good", Backend: "local.host", Repeat: 2, Checkpoints: []report.Checkpoint{{Name: "one"}}},
		{Problem: "knapsack", Solution: "greedy", Backend: "gojudge.box", Repeat: 1, Checkpoints: []report.Checkpoint{{}}},
	} {
		for _, name := range namesOf(&cell) {
			n.names[name] = "run"
		}
	}
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
		got, ok := n.owner(addr)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s belongs to %q, %v, want %q", addr, got, ok, want)
		}
	}
}

// The timeline has the attempts whose begin was recorded, also those that broke or never ended.
func TestWork(t *testing.T) {
	state := t.TempDir()
	r, err := event.NewRecorder(state, "run1")
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	for _, e := range []event.Event{
		event.RunStart{Type: "run.start", Run: "run1", Time: begin},
		event.NodeStart{Type: "node.start", Addr: "a", Kind: "pytest", Pool: "cpu", Time: at(1)},
		event.NodeRetry{Type: "node.retry", Addr: "a"},
		event.NodeStart{Type: "node.start", Addr: "a", Kind: "pytest", Pool: "cpu", Time: at(3)},
		event.NodeStart{Type: "node.start", Addr: "b", Kind: "parse"}, // of an earlier version
		event.NodeStart{Type: "node.start", Addr: "c", Kind: "parse", Pool: "cpu", Time: at(4)},
		event.NodeDone{Type: "node.done", Addr: "a", State: event.Done, Seconds: 2},
		event.NodeDone{Type: "node.done", Addr: "b", State: event.Done, Seconds: 2},
	} {
		r.Emit(e)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := workOf(event.OpenRun(state, "run1"))
	if err != nil {
		t.Fatal(err)
	}
	want := []page.Work{
		{Addr: "a", Kind: "pytest", Pool: "cpu", State: "broken", Start: 1},
		{Addr: "a", Kind: "pytest", Pool: "cpu", State: "done", Start: 3, Seconds: 2},
		{Addr: "c", Kind: "parse", Pool: "cpu", State: "interrupted", Start: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
