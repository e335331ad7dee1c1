package view

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

func TestPlainGolden(t *testing.T) {
	for name, o := range map[string]Options{
		"plain.txt":         {},
		"plain.color.txt":   {Color: true},
		"plain.verbose.txt": {Verbose: true},
		"plain.narrow.txt":  {Width: 60},
	} {
		clock, out := newClock(), &page{}
		o.Err, o.Out, o.Now = out, io.Discard, clock.now
		v := newPlainView(o)
		play(v, clock, eventfulRun())
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.String())
	}
}

// Cached nodes have no lines, however many there are.
func TestPlainSaysNothingOfCachedNodes(t *testing.T) {
	clock, out := newClock(), &page{}
	v := newPlainView(Options{Err: out, Now: clock.now, Verbose: true})
	v.Emit(event.RunStart{Nodes: 1000})
	for i := range 1000 {
		v.Emit(ended(fmt.Sprint(i), event.Cached, 0, "fresh", ""))
	}
	v.Emit(event.RunEnd{})
	if out.writes != 0 {
		t.Errorf("%d writes: %s", out.writes, out)
	}
}

func TestHeartbeat(t *testing.T) {
	clock, out := newClock(), &page{}
	v := newPlainView(Options{Err: out, Now: clock.now})
	beat := func(after time.Duration, want string) {
		t.Helper()
		clock.pass(after)
		before := len(out.String())
		v.heartbeat()
		if got := out.String()[before:]; got != want {
			t.Errorf("after %s more: %q, want %q", after, got, want)
		}
	}
	beat(time.Minute, "") // no run yet
	play(v, clock, []step{
		{0, event.RunStart{Nodes: 5}},
		{0, started("slow")},
		{time.Second, started("slower to start")},
	})
	beat(28*time.Second, "")
	beat(time.Second, " 30.0s  0/5  running     slow  for 30.0s, and 1 other\n")
	beat(29*time.Second, "")
	beat(time.Second, " 1m00s  0/5  running     slow  for 1m00s, and 1 other\n")
	v.Emit(ended("slow", event.Cached, 0, "", ""))
	beat(29*time.Second, "")
	beat(time.Second, " 1m30s  1/5  running     slower to start  for 1m29s\n")
	v.Emit(event.NodeRetry{Addr: "slower to start", Attempt: 1, Reason: "x", Wait: 300})
	beat(30*time.Second, " 2m00s  1/5  waiting     nothing runs\n")
	for range 4 {
		v.Emit(ended("x", event.Cached, 0, "", ""))
	}
	beat(time.Hour, "")
	v.Close()
	beat(time.Hour, "")
}

func TestHeartbeatStopsWithTheView(t *testing.T) {
	v := New(Plain, Options{Err: &page{}})
	v.Emit(event.RunStart{Nodes: 1})
	done := make(chan struct{})
	go func() { v.Close(); v.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		t.Fatal("Close does not return")
	}
}

func TestJSONIsOneWriteAndOneLinePerEvent(t *testing.T) {
	out := &page{}
	v := New(JSON, Options{Out: out, Err: io.Discard, Quiet: true})
	steps := eventfulRun()
	play(v, newClock(), steps)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	v.Emit(steps[0].event)
	if out.writes != len(steps) || strings.Count(out.String(), "\n") != len(steps) {
		t.Errorf("%d writes for %d events", out.writes, len(steps))
	}
	if strings.Contains(out.String(), `\u003c`) {
		t.Error("HTML escapes")
	}
	golden(t, "events.jsonl", out.String())
}

type brokenPipe struct{ writes int }

func (b *brokenPipe) Write([]byte) (int, error) { b.writes++; return 0, errors.New("broken pipe") }

func TestWriteErrorsEndInClose(t *testing.T) {
	for _, mode := range []Mode{JSON, Plain} {
		pipe := &brokenPipe{}
		v := New(mode, Options{Out: pipe, Err: pipe})
		play(v, newClock(), eventfulRun())
		if err := v.Close(); err == nil || err.Error() != "broken pipe" {
			t.Errorf("%s: %v", mode, err)
		}
		if mode == JSON && pipe.writes != 1 {
			t.Errorf("a stream with a hole: %d writes", pipe.writes)
		}
	}
}

func TestNoneAndQuietAreSilent(t *testing.T) {
	for _, o := range []struct {
		mode  Mode
		quiet bool
	}{{None, false}, {Plain, true}, {Auto, true}, {Live, true}} {
		out := &page{}
		v := New(o.mode, Options{Out: out, Err: out, Quiet: o.quiet})
		play(v, newClock(), eventfulRun())
		if v.Close(); out.writes > 0 {
			t.Errorf("%+v wrote %s", o, out)
		}
	}
}

func TestAutoIsPlainWithoutATerminal(t *testing.T) {
	v := New(Auto, Options{Out: io.Discard, Err: io.Discard})
	defer v.Close()
	if _, plain := v.(*plainView); !plain {
		t.Errorf("%T", v)
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{Auto, Live, Plain, JSON, None} {
		if got, err := ParseMode(string(m)); got != m || err != nil {
			t.Errorf("%s: %s, %v", m, got, err)
		}
	}
	if _, err := ParseMode("plan"); err == nil || !strings.Contains(err.Error(), `did you mean "plain"?`) {
		t.Errorf("error %v", err)
	}
}

func TestRemaining(t *testing.T) {
	clock := newClock()
	var tally tally
	emit := func(e event.Event) { tally.add(e, clock.now()) }
	emit(event.RunStart{Nodes: 1000})
	for i := range 10 {
		emit(event.NodeQueued{Addr: fmt.Sprint(i), Kind: "pytest"})
	}
	for i := range 500 {
		emit(ended(fmt.Sprint("cached ", i), event.Cached, 0, "", ""))
	}
	for i := range 4 {
		if left, ok := tally.remaining(); ok != (i == 3) || ok && left != 7*2 {
			t.Errorf("after %d: %v, %v", i, left, ok)
		}
		clock.pass(2 * time.Second)
		emit(ended(fmt.Sprint(i), event.Done, 2, "", ""))
	}
}

// The line of a node shows that its machine was preempted, without counting the attempt.
func TestPreempted(t *testing.T) {
	l := lines{width: 200}
	got := l.retry("1s  ", event.NodeRetry{Addr: "kv", Attempt: 1, Reason: "spot instance ended", Preempted: true})
	if want := "1s  retry       kv  preempted, runs again: spot instance ended\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
