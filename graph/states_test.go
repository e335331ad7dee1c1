package graph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// ends returns a step whose every run ends the same way.
func ends(o Outcome, err error) *step {
	return &step{work: func(context.Context, *Work) (Outcome, error) { return o, err }}
}

func TestFailedIsStoredAndBlocks(t *testing.T) {
	p := newProject(t)
	g := New()
	failing := ends(Outcome{Class: cache.ClassFailed, Message: "does not compile"}, nil)
	a := add(g, "a", failing)
	b := add(g, "b", join(nil), a)
	c := add(g, "c", join(nil), b)
	for _, want := range []string{"a failed", "a cached"} {
		r := p.execute(g)
		wantStates(t, g, r, want, "b blocked", "c blocked")
		for _, id := range []ID{b, c} {
			if st := r.Status(id); st.Culprit != "a" || st.Cause != "blocked by a" {
				t.Errorf("%s: culprit %q, cause %q", g.Node(id).Addr, st.Culprit, st.Cause)
			}
		}
		if r.Status(a).Message != "does not compile" {
			t.Errorf("message %q", r.Status(a).Message)
		}
	}
	if failing.ran.Load() != 1 {
		t.Errorf("a ran %d times", failing.ran.Load())
	}
}

func TestTimeoutIsStoredAndDoesNotBlock(t *testing.T) {
	p := newProject(t)
	g := New()
	a := add(g, "a", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		o, err := out(ctx, w, "so far")
		o.Class, o.Message = cache.ClassTimeout, "20s were not enough"
		return o, err
	}})
	add(g, "b", join(nil), a)
	r := p.execute(g)
	wantStates(t, g, r, "a timeout", "b done")
	if r.Executed != 2 || r.Failed != 0 {
		t.Errorf("%+v", r)
	}
	r = p.execute(g)
	wantStates(t, g, r, "a cached", "b cached")
	if r.Status(a).Message != "20s were not enough" {
		t.Errorf("message %q", r.Status(a).Message)
	}
}

// A node without its device is skipped, whether it is described or running: not retried, not stored, and its known
// answer stays.
func TestSkipped(t *testing.T) {
	absent := &AbsentError{Err: errors.New("no such GPU")}
	for _, describing := range []bool{false, true} {
		p := newProject(t)
		g, value := New(), "x"
		a := add(g, "a", leaf(&value))
		lacks := &step{work: ends(Outcome{}, fmt.Errorf("starting: %w", absent)).work}
		b := g.Add(Node{Addr: "b", Kind: "step", Task: lacks, Deps: on(g, a), Retry: Retry{Attempts: 3}})
		lacks.describe = func(m *Manifest) error {
			if describing {
				return absent
			}
			m.String("addr", "b")
			return nil
		}
		add(g, "c", join(nil), b)
		r := p.execute(g)
		wantStates(t, g, r, "a done", "b skipped", "c blocked")
		if st := r.Status(b); r.Skipped != 1 || r.Broken != 0 || r.Executed != 1 || st.Attempts > 1 || !strings.Contains(st.Message, "no such GPU") {
			t.Errorf("%+v, %+v", r, r.Status(b))
		}
		if e := p.last["b"]; e.Broken != "" || !e.Key.IsZero() {
			t.Errorf("what is known is %+v", e)
		}
		describing, lacks.work = false, join(nil).work
		wantStates(t, g, p.execute(g), "a cached", "b done", "c done")
		lacks.work = ends(Outcome{}, absent).work
		wantStates(t, g, p.execute(g), "a cached", "b cached", "c cached")
	}
}

// A note is reported however the attempt ends, before its end is.
func TestNotes(t *testing.T) {
	for _, err := range []error{nil, errors.New("unplugged")} {
		p := newProject(t)
		g := New()
		add(g, "a", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
			w.Note("look")
			return Outcome{}, err
		}})
		o, seen := p.options(), &recorder{}
		o.Sink = seen
		p.executeWith(t.Context(), g, o)
		var types []string
		for _, e := range seen.events {
			switch e := e.(type) {
			case event.NodeNote:
				types = append(types, e.Addr+" "+e.Text)
			case event.NodeDone:
				types = append(types, string(e.State))
			}
		}
		if len(types) != 2 || types[0] != "a look" {
			t.Errorf("%v: %q", err, types)
		}
	}
}

func TestBrokenIsNotStored(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	works := leaf(&value)
	flaky := &step{work: ends(Outcome{}, errors.New("no space left (hint: remove files)\non the device")).work}
	a := add(g, "a", works)
	b := add(g, "b", flaky, a)
	add(g, "c", join(nil), b)
	r := p.execute(g)
	wantStates(t, g, r, "a done", "b broken", "c blocked")
	if r.Broken != 1 || r.Executed != 2 || r.Blocked != 1 {
		t.Errorf("%+v", r)
	}
	if e := p.last["b"]; e.Broken != "no space left (hint: remove files)" || !e.Key.IsZero() {
		t.Errorf("what is known is %+v", e)
	}
	if record, _ := p.store.Record(t.Context(), r.Status(b).Key); record != nil {
		t.Errorf("there is a record: %+v", record)
	}

	plan := p.options()
	plan.DryRun = true
	st := p.executeWith(t.Context(), g, plan).Status(b)
	if !st.WasBroken || st.Cause != "last attempt broken (no space left)" || st.Category != "broken" {
		t.Errorf("planned: %+v", st)
	}

	flaky.work = join(nil).work
	wantStates(t, g, p.execute(g), "a cached", "b done", "c done")
	if e := p.last["b"]; e.Broken != "" || e.Key.IsZero() {
		t.Errorf("what is known is %+v", e)
	}
	wantStates(t, g, p.execute(g), "a cached", "b cached", "c cached")

	// A later break does not lose the good answer.
	flaky.work = ends(Outcome{}, errors.New("unplugged")).work
	good := value
	value = "y"
	wantStates(t, g, p.execute(g), "a done", "b broken", "c blocked")
	value = good
	wantStates(t, g, p.execute(g), "a cached", "b cached", "c cached")
	if e := p.last["b"]; e.Broken != "" {
		t.Errorf("what is known is %+v", e)
	}
}

func TestBlockedNamesTheRoot(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	fine := add(g, "fine", leaf(&value))
	root := add(g, "root", ends(Outcome{}, errors.New("unplugged")))
	middle := add(g, "middle", join(nil), fine, root)
	last := add(g, "last", join(nil), fine, middle)
	r := p.execute(g)
	wantStates(t, g, r, "fine done", "root broken", "middle blocked", "last blocked")
	if got := r.Status(last).Culprit; got != "root" {
		t.Errorf("culprit %q", got)
	}
}

func TestRetry(t *testing.T) {
	for _, try := range []struct {
		attempts, breaks int
		state            event.State
		ran              int32
	}{
		{attempts: 0, breaks: 1, state: event.Broken, ran: 1},
		{attempts: 3, breaks: 2, state: event.Done, ran: 3},
		{attempts: 3, breaks: 3, state: event.Broken, ran: 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newProject(t)
			g, value, attempts := New(), "x", []int(nil)
			s := &step{}
			s.work = func(ctx context.Context, w *Work) (Outcome, error) {
				attempts = append(attempts, w.Attempt)
				fmt.Fprintf(w.Log, "attempt %d", w.Attempt)
				if w.Attempt <= try.breaks {
					return Outcome{}, fmt.Errorf("broke %d", w.Attempt)
				}
				return out(ctx, w, value)
			}
			g.Add(Node{Addr: "a", Kind: "step", Task: s, Retry: Retry{Attempts: try.attempts, Wait: time.Hour}})
			o := p.options()
			saved := map[int]string{}
			o.SaveLog = func(_ string, attempt int, output []byte) { saved[attempt] = string(output) }
			sink := &recorder{}
			o.Sink, o.LockPoll = sink, time.Minute
			started := time.Now()
			st := p.executeWith(t.Context(), g, o).Status(0)
			if st.State != try.state || s.ran.Load() != try.ran || st.Attempts != int(try.ran) {
				t.Errorf("%+v: state %s, ran %d, attempts %d", try, st.State, s.ran.Load(), st.Attempts)
			}
			if waited := time.Since(started); waited != time.Duration(try.ran-1)*time.Hour {
				t.Errorf("%+v: waited %v", try, waited)
			}
			if len(saved) != try.breaks || saved[1] != "attempt 1" {
				t.Errorf("%+v: saved logs %v", try, saved)
			}
			retries := 0
			for _, e := range sink.events {
				if retry, ok := e.(event.NodeRetry); ok {
					retries++
					if retry.Attempt != retries || retry.Reason != fmt.Sprintf("broke %d", retries) || retry.Wait != 3600 {
						t.Errorf("%+v", retry)
					}
				}
			}
			if retries != int(try.ran)-1 {
				t.Errorf("%+v: %d retries were reported", try, retries)
			}
		})
	}
}

// Pauses that grow double up to a bound.
func TestRetryPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g, sink := newProject(t), New(), &recorder{}
		g.Add(Node{Addr: "a", Kind: "step", Task: ends(Outcome{}, errors.New("unplugged")), Retry: Retry{Attempts: 6, Wait: time.Minute, Longest: 5 * time.Minute}})
		o := p.options()
		o.Sink, o.LockPoll = sink, time.Minute
		started := time.Now()
		p.executeWith(t.Context(), g, o)
		if waited := time.Since(started); waited != 17*time.Minute {
			t.Errorf("waited %v", waited)
		}
		var told []float64
		for _, e := range sink.events {
			if retry, ok := e.(event.NodeRetry); ok {
				told = append(told, retry.Wait)
			}
		}
		if !slices.Equal(told, []float64{60, 120, 240, 300, 300}) {
			t.Errorf("reported %v", told)
		}
	})
}

func TestPanicsAreBroken(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	a := add(g, "a", leaf(&value))
	add(g, "run", &step{work: func(context.Context, *Work) (Outcome, error) { panic("in run") }}, a)
	add(g, "describe", &step{describe: func(*Manifest) error { panic("in describe") }}, a)
	add(g, "leaf", &step{describe: func(*Manifest) error { panic("in leaf") }})
	o := p.options()
	var trace string
	o.SaveLog = func(_ string, _ int, output []byte) { trace = string(output) }
	r := p.executeWith(t.Context(), g, o)
	wantStates(t, g, r, "a done", "run broken", "describe broken", "leaf broken")
	if got := r.Status(1).Message; got != "bug in fevalgraph: panic: in run" {
		t.Errorf("message %q", got)
	}
	if !strings.Contains(trace, "states_test.go") {
		t.Errorf("stack not found in the log:\n%s", trace)
	}
}

// A source could not be looked at because the machine had nothing left to look with. The source can be fine.
func TestExhaustedIsBroken(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.ENOSPC} {
		p := newProject(t)
		g := New()
		opening := &InputError{fmt.Errorf("listing: %w", &fs.PathError{Op: "open", Path: "data", Err: errno})}
		described := add(g, "described", &step{describe: func(*Manifest) error { return opening }})
		starting := add(g, "ran", ends(Outcome{}, fmt.Errorf("starting: %w", opening)))
		g.Node(starting).Retry = Retry{Attempts: 3}
		r := p.execute(g)
		wantStates(t, g, r, "described broken", "ran broken")
		if n := g.Node(starting).Task.(*step).ran.Load(); r.InputErrors != 0 || r.Status(described).Input || n != 3+1 { // one alone
			t.Errorf("%v: %d input errors, tried %d times", errno, r.InputErrors, n)
		}
	}
}

func TestInputError(t *testing.T) {
	p := newProject(t)
	g := New()
	missing := errors.New("open data.txt: no such file")
	described := add(g, "described", &step{describe: func(*Manifest) error { return &InputError{missing} }})
	ran := add(g, "ran", ends(Outcome{}, fmt.Errorf("unpacking: %w", &InputError{missing})))
	g.Node(ran).Retry = Retry{Attempts: 3}
	add(g, "user", join(nil), described)
	r := p.execute(g)
	wantStates(t, g, r, "described failed", "ran failed", "user blocked")
	if !r.Status(described).Input || !r.Status(ran).Input || r.InputErrors != 2 || r.Failed != 2 || r.Executed != 2 {
		t.Errorf("%+v", r)
	}
	if n := g.Node(ran).Task.(*step).ran.Load(); n != 1 {
		t.Errorf("a user error was tried %d times", n)
	}
	if len(p.last) != 0 {
		t.Errorf("what is known is %v", p.last)
	}
	if r.Status(described).Cause != "its inputs cannot be read" {
		t.Errorf("cause %q", r.Status(described).Cause)
	}
}

// TestInterrupt: finished nodes are saved, running ones end, and others do not begin.
func TestInterrupt(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	ctx, cancel := context.WithCancel(t.Context())
	a := add(g, "a", leaf(&value))
	finishing := add(g, "finishing", &step{work: func(_ context.Context, w *Work) (Outcome, error) {
		cancel()
		return out(context.Background(), w, "made it") // stored although the run has ended
	}}, a)
	add(g, "after", &step{describe: func(*Manifest) error { return ctx.Err() }}, finishing)
	waiting := add(g, "waiting", &step{
		describe: func(m *Manifest) error { m.Bool("waits", true); return nil }, // or its key would be that of finishing
		work: func(ctx context.Context, _ *Work) (Outcome, error) {
			<-ctx.Done()
			return Outcome{}, ctx.Err()
		},
	}, a)
	add(g, "last", join(nil), waiting)
	r := p.executeWith(ctx, g, p.options())
	wantStates(t, g, r, "a done", "finishing done", "after interrupted", "waiting interrupted", "last interrupted")
	if r.Interrupted != 3 || r.Broken != 0 {
		t.Errorf("%+v", r)
	}
	if e := p.last["waiting"]; e.Broken != "" {
		t.Errorf("the end of a run is remembered as %q", e.Broken)
	}
	if r, err := p.store.Record(t.Context(), p.last["finishing"].Key); err != nil || len(r.Manifest) == 0 {
		t.Errorf("the manifest of what was finished is not stored: %v", err)
	}
	g.Node(waiting).Task = leaf(&value)
	g.Node(waiting + 1).Task = join(nil)
	g.Node(finishing + 1).Task = join(nil)
	wantStates(t, g, p.execute(g), "a cached", "finishing cached", "after done", "waiting done", "last done")
}

func TestInterruptedBeforeItBegan(t *testing.T) {
	p := newProject(t)
	l := newLine("x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := p.executeWith(ctx, l.g, p.options())
	wantStates(t, l.g, r, "a interrupted", "b interrupted", "c interrupted")
	if l.ran() != [3]int32{} {
		t.Errorf("ran %v", l.ran())
	}
}

// TestStop: no node starts after the condition is met; running ones finish.
func TestStop(t *testing.T) {
	p := newProject(t)
	g, value, gate := New(), "x", make(chan struct{})
	begun, taken := make(chan struct{}, 2), make(chan struct{})
	failing := add(g, "failing", &step{work: func(context.Context, *Work) (Outcome, error) {
		begun <- struct{}{}
		<-taken
		return Outcome{}, errors.New("unplugged")
	}})
	slow := add(g, "slow", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		begun <- struct{}{}
		<-gate
		return out(ctx, w, value)
	}})
	add(g, "after slow", join(nil), slow)
	add(g, "after failing", join(nil), failing)
	const other = "other"
	both := add(g, "both", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		<-begun
		<-begun
		close(taken) // both slots, so late has none before the stop
		return out(ctx, w, value)
	}})
	g.Node(both).Pool = other
	late := join(nil)
	lateID := add(g, "late", late, both)
	o := p.options()
	o.Pools[CPUPool], o.Pools[other] = 2, 1
	o.Stop = func(id ID, st *Status) bool {
		if id == failing {
			close(gate)
		}
		return id == failing
	}
	r := p.executeWith(t.Context(), g, o)
	got := states(g, r)
	if want := []string{"failing broken", "slow done", "after slow interrupted", "after failing interrupted", "both done", "late interrupted"}; !slices.Equal(got, want) {
		t.Errorf("states are %q, want %q", got, want)
	}
	if cause := r.Status(lateID).Cause; cause != "the run stopped at a failure" {
		t.Errorf("cause %q", cause)
	}
	if late.ran.Load() != 0 {
		t.Error("a node was started after the stop")
	}
}

// TestStopWhileWaiting: neither a pause before a retry nor a key that another
// worker holds keeps a run that is over.
func TestStopWhileWaiting(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	g.Add(Node{Addr: "sleeping", Kind: "step", Task: ends(Outcome{}, errors.New("unplugged")), Retry: Retry{Attempts: 2, Wait: time.Hour}})
	parked := add(g, "parked", leaf(&value))
	m := newManifest("step", nil)
	m.String("value", value)
	release, ok, err := p.lock.Lock(t.Context(), m.Key())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	o := p.options()
	o.LockPoll = time.Millisecond
	time.AfterFunc(50*time.Millisecond, cancel)
	started := time.Now()
	r := p.executeWith(ctx, g, o)
	wantStates(t, g, r, "sleeping interrupted", "parked interrupted")
	if time.Since(started) > time.Minute {
		t.Error("the run did not end")
	}
	if n := g.Node(parked).Task.(*step).ran.Load(); n != 0 {
		t.Errorf("ran %d times without the key", n)
	}
}

func TestPoolWithoutSlots(t *testing.T) {
	p := newProject(t)
	for _, pools := range []map[string]int{{CPUPool: 0}, {}, {CPUPool: 1, "gpu": 0}} {
		g, value := New(), "x"
		g.Add(Node{Addr: "a", Kind: "step", Task: leaf(&value), Pool: "gpu"})
		o := p.options()
		o.Pools = pools
		r, err := g.Execute(t.Context(), everything(g), o)
		if err == nil || !strings.Contains(err.Error(), `pool "gpu" has no slots`) || r.Interrupted != 1 {
			t.Errorf("%v: %v", pools, err)
		}
	}
}
