package generate

import (
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang"
)

// A killed call has no end: the requests it sent are known, and the latest call is the one before it.
func TestPastOfKilledCall(t *testing.T) {
	o := options.Options{Inputs: lang.Inputs{Dir: t.TempDir()}}
	record := func(id string, events ...event.Event) *event.Recorder {
		r, err := event.NewRecorder(o.RecordsIn(options.AnswersDir(o.StateDir()), true), id)
		if err != nil {
			t.Fatal(err)
		}
		r.Emit(event.RunStart{Type: "run.start", Schema: event.Schema, Run: id, Time: time.Unix(1e9, 0)})
		for _, e := range events {
			r.Emit(e)
		}
		return r
	}
	whole := record("call1",
		event.NodeDone{Type: "node.done", Addr: "prompt:p/g#1", Kind: "prompt", State: event.Done},
		event.NodeDone{Type: "node.done", Addr: "answer:p/g#1", Kind: "answer", State: event.Done, Cause: "never ran"},
		event.Generated{Type: "generated", Generator: "g", Problem: "p", Attempt: 1, Outcome: "written"},
		event.RunEnd{Type: "run.end", Run: "call1"})
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
	record("call2",
		event.NodeDone{Type: "node.done", Addr: "answer:p/g#1", Kind: "answer", State: event.Cached},
		event.NodeQueued{Type: "node.queued", Addr: "answer:p/g#2", Kind: "answer", Cause: "never ran"},
		event.NodeQueued{Type: "node.queued", Addr: "answer:p/g#10", Kind: "answer", Cause: "never ran"},
		event.NodeStart{Type: "node.start", Addr: "answer:p/g#2", Kind: "answer"})
	p, err := ReadPast(o, "latest", []string{"attempt=1"})
	if err != nil || !p.Ended || p.Later != "call2" || len(p.Decisions) != 1 || p.Decisions[0].Made == nil {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err = ReadPast(o, "call2", nil)
	if err != nil || p.Ended || p.Later != "" || len(p.Decisions) != 3 {
		t.Fatalf("got %+v, %v", p, err)
	}
	for i, want := range []event.State{event.Cached, Running, Queued} {
		if got := p.Decisions[i].Node; got.State != want {
			t.Errorf("%s is %q, want %q", got.Addr, got.State, want)
		}
	}
}
