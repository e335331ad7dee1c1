package pages

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// The timeline shows attempts whose begin was recorded, also broken and unfinished ones.
func TestWork(t *testing.T) {
	state := event.Records{Dir: t.TempDir()}
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
