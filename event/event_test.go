package event

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var half = 0.5

// every is one event of each type with every field set, and its line.
var every = []struct {
	event Event
	line  string
}{
	{RunStart{Type: "run.start", Schema: Schema, Run: "r1", Version: "1.0", Nodes: 3, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Project: "/p", Jobs: 2, Selection: "kv --not x", Shard: "1/2", Divided: true, Partial: true, AdHoc: true},
		`{"type":"run.start","schema":1,"run":"r1","version":"1.0","nodes":3,"time":"2026-01-02T03:04:05Z","project":"/p","jobs":2,"selection":"kv --not x","shard":"1/2","divided":true,"partial":true,"ad_hoc":true}`},
	{NodeQueued{Type: "node.queued", Addr: `pytest:kv/a["x"]`, Kind: "pytest", Key: "k", Cause: "a <b> & c", Changes: []Change{{Field: "file x", Old: "1", New: "2", Via: "tests:kv"}}, Omitted: 3, Category: CauseNew},
		`{"type":"node.queued","addr":"pytest:kv/a[\"x\"]","kind":"pytest","key":"k","cause":"a <b> & c","changes":[{"field":"file x","old":"1","new":"2","via":"tests:kv"}],"changes_omitted":3,"category":"new"}`},
	{NodeStart{Type: "node.start", Addr: "a", Kind: "k", Attempt: 1, Pool: "p", Time: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)},
		`{"type":"node.start","addr":"a","kind":"k","attempt":1,"pool":"p","time":"2026-01-02T03:04:06Z"}`},
	{NodeRetry{Type: "node.retry", Addr: "a", Kind: "k", Attempt: 1, Reason: "r", Wait: 1.5, Preempted: true}, `{"type":"node.retry","addr":"a","kind":"k","attempt":1,"reason":"r","wait":1.5,"preempted":true}`},
	{NodeNote{Type: "node.note", Addr: "a", Kind: "k", Text: "t"}, `{"type":"node.note","addr":"a","kind":"k","text":"t"}`},
	{NodeReopened{Type: "node.reopened", Addr: "a", Kind: "k", State: Cached, Cause: "c"}, `{"type":"node.reopened","addr":"a","kind":"k","state":"cached","cause":"c"}`},
	{NodeDone{Type: "node.done", Addr: "a", Kind: "k", State: Done, Key: "x", Cause: "c", Changes: []Change{{Field: "f"}}, Omitted: 4, Seconds: 0.25, Attempt: 2, Message: "m\nn", Log: "d/1", Category: "asset", Fault: "f", Needs: []string{"b"}},
		`{"type":"node.done","addr":"a","kind":"k","state":"done","key":"x","cause":"c","changes":[{"field":"f"}],"changes_omitted":4,"seconds":0.25,"attempt":2,"message":"m\nn","log":"d/1","category":"asset","fault":"f","needs":["b"]}`},
	{Verdict{Type: "verdict", Addr: "a", Outcome: "failed", Class: "judged", Score: &half, Detail: "core 0/1"},
		`{"type":"verdict","addr":"a","outcome":"failed","class":"judged","score":0.5,"detail":"core 0/1"}`},
	{Generated{Type: "generated", Generator: "g", Problem: "p", Checkpoint: "c", Attempt: 2, Path: "generated/g/p/2/c", Outcome: "unusable", Asked: true, Reason: "r", InputTokens: 3, OutputTokens: 4, Cost: &half},
		`{"type":"generated","generator":"g","problem":"p","checkpoint":"c","attempt":2,"path":"generated/g/p/2/c","outcome":"unusable","asked":true,"reason":"r","input_tokens":3,"output_tokens":4,"cost":0.5}`},
	{RunEnd{Type: "run.end", Run: "r1", Nodes: 9, Executed: 1, Cached: 2, Failed: 3, Broken: 4, Blocked: 5, Skipped: 10, Interrupted: 6, Preempted: 11, Seconds: 7.5, Exit: 8, Judged: 12, Verdicts: "1 cell, 1 checkpoint: 1 passed"},
		`{"type":"run.end","run":"r1","nodes":9,"executed":1,"cached":2,"failed":3,"broken":4,"blocked":5,"skipped":10,"interrupted":6,"preempted":11,"seconds":7.5,"exit":8,"judged":12,"verdicts":"1 cell, 1 checkpoint: 1 passed"}`},
}

func TestCodec(t *testing.T) {
	for _, e := range every {
		for i := range reflect.TypeOf(e.event).NumField() {
			if reflect.ValueOf(e.event).Field(i).IsZero() {
				t.Errorf("%T: the field %s is not tried", e.event, reflect.TypeOf(e.event).Field(i).Name)
			}
		}
		var b bytes.Buffer
		if err := writeLine(&b, e.event); err != nil || b.String() != e.line+"\n" {
			t.Errorf("%T: %v\n got %s\nwant %s", e.event, err, b.String(), e.line)
		}
		if diff := cmp.Diff(e.event, Decode([]byte(e.line))); diff != "" {
			t.Errorf("%T: %s", e.event, diff)
		}
		// A line of a later version of this schema.
		if got := Decode([]byte(strings.Replace(e.line, "{", `{"novelty":[1],`, 1))); !reflect.DeepEqual(got, e.event) {
			t.Errorf("with a new field: %+v", got)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, line := range []string{"", "\n", "{", "null", "[]", "1", `{}`, `{"type":"run.pause"}`, `{"type":1}`, `{"type":"run.end","nodes":"many"}`, every[0].line[:50]} {
		if got := Decode([]byte(line)); got != nil {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range every {
		f.Add([]byte(e.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e := Decode(line)
		if e == nil {
			return
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, Decode(again), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

type sink []Event

func (s *sink) Emit(e Event) { *s = append(*s, e) }

func TestSinks(t *testing.T) {
	var a, b sink
	Sinks{&a, &b}.Emit(every[0].event)
	Sinks(nil).Emit(every[0].event)
	if len(a) != 1 || len(b) != 1 {
		t.Errorf("%d and %d events", len(a), len(b))
	}
}
