package event

import (
	"strings"
	"testing"
)

func TestServedIn(t *testing.T) {
	state := t.TempDir()
	if got, err := ServedIn(Records{Dir: state}); err != nil || got != (Served{}) {
		t.Fatalf("of no runs: %+v, %v", got, err)
	}
	record := func(run string, events ...Event) {
		r, err := NewRecorder(Records{Dir: state}, run)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			r.Emit(e)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	long := NodeDone{Type: "node.done", Addr: "a", State: Done, Message: strings.Repeat("x", 2*maxEnd)}
	record("1", RunStart{Type: "run.start"}, long, RunEnd{Type: "run.end", Executed: 3, Cached: 1})
	record("2", RunStart{Type: "run.start"}, RunEnd{Type: "run.end", Cached: 4})
	record("3", RunStart{Type: "run.start"}, long) // was killed
	record("4")
	got, err := ServedIn(Records{Dir: state})
	if want := (Served{Runs: 2, Hits: 5, Misses: 3}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
