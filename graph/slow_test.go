package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// slowly is a step whose Describe takes a while, and ignores its context.
type slowly struct {
	*step
	takes time.Duration
	under atomic.Int32 // calls under way
}

func (s *slowly) Describe(ctx context.Context, m *Manifest) error {
	s.under.Add(1)
	defer s.under.Add(-1)
	time.Sleep(s.takes)
	return s.step.Describe(ctx, m)
}

// clocked keeps when each node ended, in time since it was made.
type clocked struct {
	recorder
	began time.Time
	ended map[string]time.Duration
}

func newClocked() *clocked { return &clocked{began: time.Now(), ended: map[string]time.Duration{}} }

func (c *clocked) Emit(e event.Event) {
	c.recorder.Emit(e)
	if done, ok := e.(event.NodeDone); ok {
		c.ended[done.Addr] = time.Since(c.began)
	}
}

// TestSlowDescribe: a Describe of 2 s delays the nodes that depend on it. The
// others run, and their events are emitted, as if it were not there.
func TestSlowDescribe(t *testing.T) {
	for _, slots := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			p, g := newProject(t), New()
			work := func(addr string) *step {
				return &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
					time.Sleep(100 * time.Millisecond)
					return out(ctx, w, addr)
				}}
			}
			chain := add(g, "chain 0", work("chain 0"))
			late := g.Add(Node{Addr: "late", Kind: "step", Deps: on(g, chain), Task: &slowly{step: leaf(new("late")), takes: 2 * time.Second}})
			want := map[string]time.Duration{"chain 0": 100 * time.Millisecond}
			for i := 1; i < 10; i++ {
				addr := fmt.Sprint("chain ", i)
				chain = add(g, addr, work(addr), chain)
				want[addr] = time.Duration(i+1) * 100 * time.Millisecond
			}
			slow := g.Add(Node{Addr: "slow", Kind: "step", Task: &slowly{step: leaf(new("slow")), takes: 2 * time.Second}})
			add(g, "user", join(nil), slow, late)
			want["slow"], want["late"], want["user"] = 2*time.Second, 2100*time.Millisecond, 2100*time.Millisecond
			sink, o := newClocked(), p.options()
			o.Sink, o.Pools = sink, map[string]int{CPUPool: slots}
			if _, err := g.Execute(t.Context(), everything(g), o); err != nil {
				t.Fatal(err)
			}
			for addr, at := range want {
				// an attempt can wait for each slow decision once; see maxHold
				if got := sink.ended[addr]; got < at || got > at+2*maxHold {
					t.Errorf("%d slots: %s ended after %v, want %v", slots, addr, got, at)
				}
			}
			if len(sink.ended) != len(want) {
				t.Errorf("ended: %v", sink.ended)
			}
		})
	}
}

// TestProbes: nodes with the same slow probe occupy no decider of others, and query again after a failure.
func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := newProject(t), New()
		var mu sync.Mutex
		asked, answered := 0, false
		for i := range 100 {
			g.Add(Node{Addr: fmt.Sprint("in a container ", i), Kind: "step", Probes: []string{"docker"}, Task: &step{
				describe: func(m *Manifest) error {
					mu.Lock()
					defer mu.Unlock()
					m.Int("number", int64(i))
					if answered {
						return nil
					}
					time.Sleep(2 * time.Second)
					asked++
					if answered = asked > 1; !answered {
						return errors.New("no daemon")
					}
					return nil
				},
				work: func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, "x") },
			}})
		}
		add(g, "local", leaf(new("local")))
		sink, o := newClocked(), p.options()
		o.Sink = sink
		r, err := g.Execute(t.Context(), everything(g), o)
		if err != nil || r.Broken != 1 || r.Executed != 101 || asked != 2 {
			t.Errorf("%+v, %v; %d queries", r, err, asked)
		}
		if sink.ended["local"] > maxHold || r.Seconds > 4.1 {
			t.Errorf("the local one ended after %v, all after %v s", sink.ended["local"], r.Seconds)
		}
	})
}

// slowStore is a store whose requests take time.
type slowStore struct {
	cache.Store
	latency  time.Duration
	mu       sync.Mutex
	now, max int // requests under way
}

func (d *slowStore) wait() {
	d.mu.Lock()
	d.now++
	d.max = max(d.max, d.now)
	d.mu.Unlock()
	time.Sleep(d.latency)
	d.mu.Lock()
	d.now--
	d.mu.Unlock()
}

func (d *slowStore) Record(ctx context.Context, k cache.Key) (*cache.Record, error) {
	d.wait()
	return d.Store.Record(ctx, k)
}

// TestSlowStore: look-ups of 50 ms are made as many at a time as the widest
// pool has slots, in runs and in plans.
func TestSlowStore(t *testing.T) {
	const nodes, slots, latency = 5000, 16, 50 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		p, g := newProject(t), New()
		top := add(g, "top", leaf(new("top")))
		for i := range nodes - 1 {
			add(g, fmt.Sprint("n", i), join(nil), top)
		}
		o := p.options()
		o.Pools = map[string]int{CPUPool: slots}
		p.executeWith(t.Context(), g, o)
		for _, dry := range []bool{false, true} {
			store := &slowStore{Store: p.store, latency: latency}
			o.Store, o.Last, o.DryRun = store, nil, dry
			started := time.Now()
			r := p.executeWith(t.Context(), g, o)
			if r.Cached != nodes {
				t.Errorf("%d cached", r.Cached)
			}
			if took, ideal := time.Since(started), nodes*latency/slots; took > ideal*13/10 {
				t.Errorf("dry run %v: took %v, the ideal is %v", dry, took, ideal)
			}
			if store.max != slots {
				t.Errorf("dry run %v: %d look-ups at once, want %d", dry, store.max, slots)
			}
		}
	})
}

// TestReturnsLast: Execute waits for a Describe that ignores the end of the run.
func TestReturnsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := newProject(t), New()
		stubborn := &slowly{step: leaf(new("x")), takes: time.Minute}
		g.Add(Node{Addr: "stubborn", Kind: "step", Task: stubborn})
		g.Add(Node{Addr: "sleeping", Kind: "step", Task: ends(Outcome{}, errors.New("unplugged")), Retry: Retry{Attempts: 2, Wait: time.Hour}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := p.executeWith(ctx, g, p.options())
		wantStates(t, g, r, "stubborn interrupted", "sleeping interrupted")
		if stubborn.under.Load() != 0 || r.Seconds != 60 {
			t.Errorf("Execute returned after %v s with %d calls under way", r.Seconds, stubborn.under.Load())
		}
	})
}

// TestSlowCheckOfLosses: checking an input for damage, which reads all of it, delays no other node.
func TestSlowCheckOfLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLossy()
		p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}
		g := New()
		a := add(g, "a", leaf(new("x")))
		add(g, "user", join(nil), a)
		quick := add(g, "quick", leaf(new("quick")))
		r := p.execute(g)
		store.lose(r.Status(a))
		o, sink := p.options(), newClocked()
		o.Store, o.Sink = &slowReads{store}, sink
		o.Force = func(n *Node) bool { return n.Addr != "a" }
		add(g, "after quick", join(nil), quick)
		if _, err := g.Execute(t.Context(), everything(g), o); err != nil {
			t.Fatal(err)
		}
		// after quick reads once; user reads, checks what it read, and reads again.
		if got := sink.ended; got["quick"] > maxHold || got["after quick"] > time.Second+maxHold || got["user"] < 3*time.Second {
			t.Errorf("ended: %v", got)
		}
	})
}

// slowReads is a store whose blobs take a second to open.
type slowReads struct{ *lossy }

func (s *slowReads) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	time.Sleep(time.Second)
	return s.lossy.Open(ctx, d)
}

// TestSlowStop: while Stop reads a result, other nodes are decided and their Stop runs, so all of them take as long as
// one, and no attempt starts before the answers are in.
func TestSlowStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := newProject(t), New()
		const nodes = 8
		for i := range nodes {
			add(g, fmt.Sprint("known ", i), leaf(new(fmt.Sprint(i))))
		}
		p.execute(g)
		late := leaf(new("late"))
		add(g, "late", late)
		o, sink := p.options(), newClocked()
		o.Sink, o.Lookups = sink, nodes+1
		o.Stop = func(ID, *Status) bool {
			time.Sleep(time.Second)
			if late.ran.Load() > 0 && sink.ended["late"] == 0 {
				t.Error("an attempt started during the query")
			}
			return false
		}
		r, err := g.Execute(t.Context(), everything(g), o)
		if err != nil || r.Cached != nodes || r.Executed != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		for addr, at := range sink.ended {
			if want := time.Second; addr == "late" && at != want || addr != "late" && at != 0 {
				t.Errorf("%s ended after %v", addr, at)
			}
		}
	})
}

// TestSlowStopEnds: a Stop that answers late lets nothing start meanwhile.
func TestSlowStopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := newProject(t), New()
		failing := add(g, "failing", ends(Outcome{}, errors.New("unplugged")))
		add(g, "after failing", join(nil), failing) // the longest chain goes first
		const others = 20
		for i := range others {
			add(g, fmt.Sprint("other ", i), leaf(new(fmt.Sprint(i))))
		}
		o := p.options()
		o.Pools[CPUPool] = 1
		o.Stop = func(id ID, _ *Status) bool { time.Sleep(time.Second); return id == failing }
		r := p.executeWith(t.Context(), g, o)
		if r.Broken != 1 || r.Interrupted != others+1 {
			t.Errorf("%+v", r)
		}
	})
}
