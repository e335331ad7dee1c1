package graph

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// lossy is a store that lost blobs: reading one drops it, as a damaged blob is
// dropped, until it is put again.
type lossy struct {
	*cache.Memory
	mu      sync.Mutex
	gone    map[cache.Digest]bool
	corrupt bool // reading reports corruption first, a missing blob from then on
	always  bool // putting does not help
}

func newLossy() *lossy { return &lossy{Memory: cache.NewMemory(), gone: map[cache.Digest]bool{}} }

func (l *lossy) lose(st *Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range st.Outputs {
		l.gone[o.Digest] = true
	}
}

func (l *lossy) Put(ctx context.Context, r io.Reader) (cache.Digest, error) {
	d, err := l.Memory.Put(ctx, r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.always {
		delete(l.gone, d)
	}
	return d, err
}

func (l *lossy) Has(ctx context.Context, d cache.Digest) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone[d] && !l.corrupt {
		return false, nil
	}
	return l.Memory.Has(ctx, d)
}

func (l *lossy) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone[d] {
		if l.corrupt {
			l.corrupt = false
			return nil, &cache.CorruptError{Digest: d}
		}
		return nil, &cache.MissingError{Digest: d}
	}
	return l.Memory.Open(ctx, d)
}

func TestHeals(t *testing.T) {
	for _, corrupt := range []bool{false, true} {
		store := newLossy()
		p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
		l := newLine("x#1")
		r := p.execute(l.g)
		store.lose(r.Status(1))
		store.corrupt = corrupt
		o := p.options()
		o.Force = func(n *Node) bool { return n.Addr == "c" }
		r = p.executeWith(t.Context(), l.g, o)
		wantStates(t, l.g, r, "a cached", "b done", "c done")
		if want := [3]int32{1, 2, 3}; l.ran() != want { // c's first attempt had no result
			t.Errorf("ran %v, want %v", l.ran(), want)
		}
		if cause := r.Status(1).Cause; cause != "its output is no longer in the store" {
			t.Errorf("cause %q", cause)
		}
		wantStates(t, l.g, p.execute(l.g), "a cached", "b cached", "c cached")
	}
}

// TestHealsWholeChain: inputs of a lost output can be lost, too.
func TestHealsWholeChain(t *testing.T) {
	store := newLossy()
	p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
	l := newLine("x#1")
	r := p.execute(l.g)
	store.lose(r.Status(0))
	store.lose(r.Status(1))
	o := p.options()
	o.Force = func(n *Node) bool { return n.Addr == "c" }
	wantStates(t, l.g, p.executeWith(t.Context(), l.g, o), "a done", "b done", "c done")
}

// tries returns a task that is not reproducible: its output has the number of the attempt.
func tries(n *int) *step {
	return &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		*n++
		return out(ctx, w, fmt.Sprintf("try %d", *n))
	}}
}

// TestHealsWithAnotherOutput: work that is not reproducible gets a new output, and the users of the old one
// follow.
func TestHealsWithAnotherOutput(t *testing.T) {
	store := newLossy()
	p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
	g, n := New(), 0
	a := add(g, "a", tries(&n))
	early := add(g, "early", join(strings.ToUpper), a)
	late := add(g, "late", join(strings.ToTitle), a)
	after := add(g, "after", join(nil), early, late)
	r := p.execute(g)
	store.lose(r.Status(a))
	o := p.options()
	o.Force = func(n *Node) bool { return n.Addr == "late" }
	r = p.executeWith(t.Context(), g, o)
	wantStates(t, g, r, "a done", "early done", "late done", "after done")
	if got := p.content(r, after); got != "TRY 2+TRY 2" {
		t.Errorf("content %q: some of it is of another time", got)
	}
	wantStates(t, g, p.execute(g), "a cached", "early cached", "late cached", "after cached")
}

// TestInputReplacedAfterUse: an answer for an input that the same run replaced is not the answer of this run.
func TestInputReplacedAfterUse(t *testing.T) {
	store := newLossy()
	p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
	g, n := New(), 0
	a := add(g, "a", tries(&n))
	hasRead := make(chan struct{})
	early := add(g, "early", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		text, err := read(ctx, w, "a")
		if err != nil {
			return Outcome{}, err
		}
		if text == "try 1" {
			close(hasRead)
		}
		return out(ctx, w, "early saw "+text)
	}}, a)
	after := add(g, "after", join(nil), early)
	add(g, "noticer", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		<-hasRead
		if d, _ := w.Input("a", "out"); n == 1 {
			store.lose(&Status{Outputs: []cache.Output{{Digest: d}}})
		}
		return join(nil).work(ctx, w)
	}}, a)
	r := p.execute(g)
	for _, state := range []string{"done", "cached"} {
		wantStates(t, g, r, "a "+state, "early "+state, "after "+state, "noticer "+state)
		if p.content(r, early) != "early saw try 2" || p.content(r, after) != "early saw try 2" {
			t.Errorf("%s: content %q and %q", state, p.content(r, early), p.content(r, after))
		}
		r = p.execute(g)
	}
}

// TestStopBetweenPasses: if the run stops after an input was replaced, an answer for the replaced one is not that of the
// run.
func TestStopBetweenPasses(t *testing.T) {
	store := newLossy()
	p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
	g, n := New(), 0
	a := add(g, "a", tries(&n))
	early := add(g, "early", join(strings.ToUpper), a)
	add(g, "noticer", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		if d, _ := w.Input("a", "out"); n == 1 {
			store.lose(&Status{Outputs: []cache.Output{{Digest: d}}})
		}
		return join(nil).work(ctx, w)
	}}, a, early)
	o := p.options()
	o.Stop = func(id ID, _ *Status) bool { return id == a && n == 2 }
	wantStates(t, g, p.executeWith(t.Context(), g, o), "a done", "early interrupted", "noticer interrupted")
}

// TestPostponesUnstarted: nodes whose input is known to be lost do not start before it was made again.
func TestPostponesUnstarted(t *testing.T) {
	store := newLossy()
	p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
	g, value := New(), "x"
	a := add(g, "a", leaf(&value))
	var users []*step
	for i := range 10 {
		users = append(users, join(nil))
		add(g, fmt.Sprintf("user%d", i), users[i], a)
	}
	o := p.options()
	o.Pools[CPUPool] = 1
	store.lose(p.executeWith(t.Context(), g, o).Status(a))
	o.Force = func(n *Node) bool { return n.Addr != "a" }
	p.executeWith(t.Context(), g, o)
	attempts := int32(0)
	for _, user := range users {
		attempts += user.ran.Load()
	}
	if attempts != 10+1+10 {
		t.Errorf("%d attempts", attempts)
	}
}

// TestHealsOnceForMany: dependents that run side by side notice one loss each;
// it is healed once, and all of them get what they need.
func TestHealsOnceForMany(t *testing.T) {
	for range 20 {
		store := newLossy()
		p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
		g, value := New(), "x"
		source := leaf(&value)
		a := add(g, "a", source)
		for i := range 16 {
			g.Node(add(g, fmt.Sprintf("user%d", i), join(nil), a)).Pool = []string{"", "narrow"}[i%2]
		}
		o := p.options()
		o.Pools["narrow"] = 1
		store.lose(p.executeWith(t.Context(), g, o).Status(a))
		o.Force = func(n *Node) bool { return n.Addr != "a" }
		o.Run = "again"
		r := p.executeWith(t.Context(), g, o)
		if r.Executed != 17 || r.Broken != 0 || r.Blocked != 0 || source.ran.Load() != 2 {
			t.Fatalf("%+v, source ran %d times: %q", r, source.ran.Load(), states(g, r))
		}
	}
}

// TestHealingGivesUp: a store that keeps losing what is put into it is reported as broken in bounded time.
func TestHealingGivesUp(t *testing.T) {
	store := newLossy()
	store.always = true
	p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
	l := newLine("x#1")
	r := p.execute(l.g)
	store.lose(r.Status(1))
	o := p.options()
	o.Force = func(n *Node) bool { return n.Addr == "c" }
	r = p.executeWith(t.Context(), l.g, o)
	wantStates(t, l.g, r, "a cached", "b done", "c broken")
	if want := [3]int32{1, 1 + maxPostponements, 1 + 1 + maxPostponements}; l.ran() != want {
		t.Errorf("ran %v, want %v", l.ran(), want)
	}

	// A task that speaks of a blob that no dependency has.
	g := New()
	never := ends(Outcome{}, fmt.Errorf("reading: %w", &cache.MissingError{}))
	add(g, "never", never)
	wantStates(t, g, p.execute(g), "never broken")
	if n := never.ran.Load(); n > 1+maxPostponements {
		t.Errorf("ran %d times", n)
	}

	// Losses between the attempts, again and again.
	store.always = false
	g, value := New(), "y"
	a := add(g, "a", leaf(&value))
	loser := &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		d, _ := w.Input("a", "out")
		store.lose(&Status{Outputs: []cache.Output{{Digest: d}}})
		return join(nil).work(ctx, w)
	}}
	add(g, "loser", loser, a)
	wantStates(t, g, p.execute(g), "a done", "loser broken")
	if n := loser.ran.Load(); n != 1+maxPostponements {
		t.Errorf("ran %d times", n)
	}
}

// TestHealingStops: a run that ends while something is made again leaves
// nothing settled that was not.
func TestHealingStops(t *testing.T) {
	store := newLossy()
	p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
	g, value := New(), "x"
	ctx, cancel := context.WithCancel(t.Context())
	a := add(g, "a", leaf(&value))
	b := add(g, "b", join(nil), a)
	r := p.execute(g)
	store.lose(r.Status(a))
	g.Node(a).Task.(*step).work = func(ctx context.Context, _ *Work) (Outcome, error) {
		cancel()
		<-ctx.Done()
		return Outcome{}, ctx.Err()
	}
	o := p.options()
	o.Force = func(n *Node) bool { return n.Addr == "b" }
	wantStates(t, g, p.executeWith(ctx, g, o), "a interrupted", "b interrupted")
	g.Node(a).Task = leaf(&value)
	g.Node(b).Task.(*step).ran.Store(0)
	wantStates(t, g, p.execute(g), "a cached", "b cached") // the good answers are still known
}

func TestSourceChangedWhileRead(t *testing.T) {
	changed := fmt.Errorf("hashing: %w", &cache.ChangedError{Path: "x"})
	for _, try := range []struct {
		name              string
		inDescribe, inRun int
		want              string
		ran               int32
	}{
		{"while described", 2, 0, "a done", 1},
		{"while stored", 0, 2, "a done", 3},
		{"both", 1, 1, "a done", 2},
		{"without end, described", 1000, 0, "a broken", 0},
		{"without end, stored", 0, 1000, "a broken", sourceRaceAttempts + 1},
	} {
		p := newProject(t)
		g, value, described, ran := New(), "x", 0, 0
		s := &step{
			describe: func(m *Manifest) error {
				if described++; described <= try.inDescribe {
					return changed
				}
				m.String("value", value)
				return nil
			},
			work: func(ctx context.Context, w *Work) (Outcome, error) {
				if ran++; ran <= try.inRun {
					value += "+"
					return Outcome{}, changed
				}
				return out(ctx, w, value)
			},
		}
		a := add(g, "a", s)
		user := add(g, "user", join(nil), a)
		r := p.execute(g)
		if got := states(g, r)[0]; got != try.want || s.ran.Load() != try.ran {
			t.Errorf("%s: %s, ran %d times", try.name, got, s.ran.Load())
		}
		if try.want != "a done" {
			continue
		}
		m := newManifest("step", nil)
		m.String("value", value)
		if r.Status(a).Key != m.Key() || p.content(r, user) != value {
			t.Errorf("%s: the answer is not the one for the last description", try.name)
		}
	}
}

// A dry run foresees what a run makes again: the outputs that the store lacks and stale work reads, what these need,
// and, perhaps, other work on them.
func TestForeseesLosses(t *testing.T) {
	for _, lost := range [][]ID{{1}, {0, 1}} {
		store := newLossy()
		p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
		l := newLine("x#1")
		other := add(l.g, "other", join(strings.ToLower), 1)
		last := add(l.g, "last", join(strings.ToLower), other)
		r := p.execute(l.g)
		for _, id := range lost {
			store.lose(r.Status(id))
		}
		o := p.options()
		o.Preview = Preview{DryRun: true, Losses: true}
		idle, err := l.g.Execute(t.Context(), everything(l.g), o)
		if err != nil {
			t.Fatal(err)
		}
		for id := range ID(l.g.Len()) {
			if st := idle.Status(id); st.State != event.Cached {
				t.Errorf("without stale work, %s is %q", l.g.Node(id).Addr, st.State)
			}
		}
		o.Force = func(n *Node) bool { return n.Addr == "c" }
		if r, err = l.g.Execute(t.Context(), everything(l.g), o); err != nil {
			t.Fatal(err)
		}
		for id := range ID(l.g.Len()) {
			want := ""
			switch {
			case slices.Contains(lost, id):
				want = causeLost
			case id == 2:
				want = "forced"
			case id == other || id == last:
				want = "follows"
			}
			if st := r.Status(id); st.Stale != (want != "") || want != "" && !strings.HasPrefix(st.Cause, want) {
				t.Errorf("lost %v: %s is stale %v, %q, want %q", lost, l.g.Node(id).Addr, st.Stale, st.Cause, want)
			}
		}
		// The run does no more than that.
		o.DryRun = false
		ran := p.executeWith(t.Context(), l.g, o)
		for id := range ID(l.g.Len()) {
			if ran.Status(id).State != event.Cached && !r.Status(id).Stale {
				t.Errorf("lost %v: %s ran, which the dry run did not foresee", lost, l.g.Node(id).Addr)
			}
		}
	}
}

// A changed dependency without a name, such as the only checkpoint of a cell, is named by its kind.
func TestCauseOfNamelessDependency(t *testing.T) {
	in := &input{dep: &Dep{}, kind: "aggregate"}
	if got := in.changeText(); got != "aggregate changed" {
		t.Error(got)
	}
	in.stale, in.cause = true, "sub.py changed"
	if got := in.changeText(); got != "aggregate: sub.py changed" {
		t.Error(got)
	}
	if got := ChangeText(event.Change{Via: "score:p/s", Old: "1", New: "2"}); got != "score:p/s changed" {
		t.Error(got)
	}
}
