package view

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

func TestTrace(t *testing.T) {
	start := time.Unix(1000, 0)
	now := start
	trace := NewTrace(start, func() time.Time { return now })
	at := func(ms int, e event.Event) {
		now = start.Add(time.Duration(ms) * time.Millisecond)
		trace.Emit(e)
	}
	now = start.Add(5 * time.Millisecond)
	trace.Phase("load", start)
	at(10, event.NodeQueued{Addr: "a"})
	at(10, event.NodeQueued{Addr: "b"})
	at(10, event.NodeQueued{Addr: "c"})
	at(20, event.NodeStart{Addr: "a", Attempt: 1})
	at(25, event.NodeStart{Addr: "b", Attempt: 1})
	at(30, event.NodeRetry{Addr: "a", Kind: "pytest", Reason: "no network"})
	at(30, event.NodeDone{Addr: "cached", State: event.Cached})
	at(40, event.NodeStart{Addr: "c", Attempt: 1}) // in the lane that a left
	at(50, event.NodeDone{Addr: "b", Kind: "parse", State: event.Done, Cause: "never ran"})
	at(60, event.NodeDone{Addr: "c", Kind: "parse", State: event.Failed, Message: "no"})

	var b bytes.Buffer
	if err := trace.Write(&b); err != nil {
		t.Fatal(err)
	}
	var got struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	type span struct {
		name     string
		from, to float64 // milliseconds
		lane     int
		state    any
		queued   any
	}
	want := []span{
		{name: "load", from: 0, to: 5, lane: 0},
		{name: "a", from: 20, to: 30, lane: 1, state: "broken", queued: 0.01},
		{name: "b", from: 25, to: 50, lane: 2, state: "done", queued: 0.015},
		{name: "c", from: 40, to: 60, lane: 1, state: "failed", queued: 0.03},
	}
	var spans []span
	for _, e := range got.TraceEvents {
		if e.Phase == "X" {
			spans = append(spans, span{name: e.Name, from: e.Time / 1e3, to: (e.Time + e.Duration) / 1e3, lane: e.Thread, state: e.Args["state"], queued: e.Args["queued_s"]})
		}
	}
	if len(spans) != len(want) {
		t.Fatalf("%+v", spans)
	}
	for i := range want {
		if spans[i] != want[i] {
			t.Errorf("got %+v\nwant %+v", spans[i], want[i])
		}
	}
}
