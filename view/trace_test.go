package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/event"
)

func TestTrace(t *testing.T) {
	start := time.Unix(1000, 0)
	now := start
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	trace := NewTrace(start, func() time.Time { return now })
	emit := func(ms int, e event.Event) {
		now = at(ms)
		trace.Emit(e)
	}
	now = at(5)
	trace.Phase("load", start)
	trace.Decided("a", []Span{{"hashing", at(5)}, {"look up", at(7)}}, at(9))
	trace.Decided("cached", []Span{{"hashing", at(6)}}, at(6).Add(shortest-1)) // too short to be shown
	trace.Decided("slow", []Span{{"hashing", at(7)}}, at(10))
	emit(10, event.NodeQueued{Addr: "a"})
	emit(10, event.NodeQueued{Addr: "b"})
	emit(10, event.NodeQueued{Addr: "c"})
	trace.Worked("a", "cpu", 1, []Span{{"look up", at(20)}, {"backend", at(21)}}, at(30))
	emit(30, event.NodeRetry{Addr: "a", Kind: "pytest", Reason: "no network"})
	emit(30, event.NodeDone{Addr: "cached", State: event.Cached})
	// Reported later than it began, and in the lane that a left.
	trace.Worked("c", "cpu", 1, []Span{{"working", at(30)}}, at(60))
	trace.Worked("b", "cpu", 1, []Span{{"working", at(25)}, {"storing", at(45)}}, at(50))
	trace.Worked("d", "api", 1, []Span{{"working", at(25)}}, at(27)) // of another pool, and so in another lane
	emit(61, event.NodeDone{Addr: "b", Kind: "parse", State: event.Done, Cause: "never ran"})
	emit(62, event.NodeDone{Addr: "c", Kind: "parse", State: event.Failed, Message: "no"})

	type span struct {
		Name     string
		From, To float64 // milliseconds
		Process  int
		Lane     int
		State    any
		Queued   any
	}
	want := []span{
		{Name: "load", From: 0, To: 5, Process: 1, Lane: 0},
		{Name: "d", From: 25, To: 27, Process: 1, Lane: 1},
		{Name: "working", From: 25, To: 27, Process: 1, Lane: 1},
		{Name: "a", From: 20, To: 30, Process: 1, Lane: 2, State: "broken", Queued: 0.01},
		{Name: "look up", From: 20, To: 21, Process: 1, Lane: 2},
		{Name: "backend", From: 21, To: 30, Process: 1, Lane: 2},
		{Name: "b", From: 25, To: 50, Process: 1, Lane: 3, State: "done", Queued: 0.015},
		{Name: "working", From: 25, To: 45, Process: 1, Lane: 3},
		{Name: "storing", From: 45, To: 50, Process: 1, Lane: 3},
		{Name: "c", From: 30, To: 60, Process: 1, Lane: 2, State: "failed", Queued: 0.02},
		{Name: "working", From: 30, To: 60, Process: 1, Lane: 2},
		{Name: "a", From: 5, To: 9, Process: 2, Lane: 1},
		{Name: "hashing", From: 5, To: 7, Process: 2, Lane: 1},
		{Name: "look up", From: 7, To: 9, Process: 2, Lane: 1},
		{Name: "slow", From: 7, To: 10, Process: 2, Lane: 2},
		{Name: "hashing", From: 7, To: 10, Process: 2, Lane: 2},
	}
	var spans []span
	waits, names := map[string]float64{}, map[int]any{}
	for _, e := range written(t, trace) {
		switch e.Phase {
		case "M":
			if e.Name == "thread_name" && e.Process == runProcess {
				names[e.Thread] = e.Args["name"]
			}
		case "X":
			spans = append(spans, span{e.Name, milliseconds(e.Time), milliseconds(e.Time + *e.Duration), e.Process, e.Thread, e.Args["state"], e.Args["queued_s"]})
		case "b":
			waits[e.Name] -= milliseconds(e.Time)
		case "e":
			waits[e.Name] += milliseconds(e.Time)
		}
	}
	if diff := cmp.Diff(want, spans); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[int]any{0: "run", 1: "api 1", 2: "cpu 1", 3: "cpu 2"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]float64{"a": 10, "b": 15, "c": 20}, waits); diff != "" {
		t.Error(diff)
	}
}

func milliseconds(microseconds int64) float64 { return float64(microseconds) / 1e3 }

// TestTraceNests checks what viewers require, for any times: the parts of a node follow one another, each takes
// some time, and the last ends with the node. Viewers add in floating point.
func TestTraceNests(t *testing.T) {
	start := time.Unix(1000, 0)
	trace := NewTrace(start, nil)
	random := rand.New(rand.NewPCG(1, 2))
	at := start
	for i := range 1000 {
		var spans []Span
		for _, name := range []string{"look up", "backend", "storing"} {
			spans = append(spans, Span{name, at})
			at = at.Add(time.Duration(random.IntN(2_000) * random.IntN(2_000)))
		}
		trace.Worked(fmt.Sprint("node", i), "cpu", 1, spans, at)
	}
	var decoded struct {
		TraceEvents []struct {
			Name, Ph string
			Ts, Dur  float64
		}
	}
	var b bytes.Buffer
	if err := errors.Join(trace.Write(&b), json.Unmarshal(b.Bytes(), &decoded)); err != nil {
		t.Fatal(err)
	}
	var whole, last float64 // ends of a node and of its latest part
	for _, e := range decoded.TraceEvents {
		switch {
		case e.Ph != "X":
			continue
		case strings.HasPrefix(e.Name, "node"):
			if last != whole || e.Ts < whole {
				t.Fatalf("%s begins at %v; the node before it ends at %v, its parts at %v", e.Name, e.Ts, whole, last)
			}
			whole, last = e.Ts+e.Dur, e.Ts
		case e.Ts != last || e.Dur <= 0:
			t.Fatalf("%s begins at %v and takes %v, what came before it ends at %v", e.Name, e.Ts, e.Dur, last)
		default:
			last = e.Ts + e.Dur
		}
	}
}

func written(t *testing.T, trace *Trace) []traceEvent {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Write(&b); err != nil {
		t.Fatal(err)
	}
	var got struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got.TraceEvents
}
