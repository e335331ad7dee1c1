package graph

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// world is a random DAG and the weather that it is executed in. The output of a node depends only on its inputs;
// whether the machinery works depends on the weather.
type world struct {
	nodes  []randomNode
	values []int // of leaves, by node

	mu    sync.Mutex
	rng   *rand.Rand
	bad   bool           // the machinery breaks and loses blobs
	store *lossy         // nil means that only the store itself can lose data
	ran   map[string]int // since it was last emptied
}

type randomNode struct {
	deps      []int
	modulus   uint32 // small ones make equal outputs likely
	failEvery uint32 // multiples of it fail; 0 means that none does
	timeouts  bool   // they time out instead
	kept      bool
	predicts  bool
	retry     int
}

func newWorld(seed uint64, failures bool) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &world{rng: rng, store: newLossy(), ran: map[string]int{}}
	for i := range 5 + rng.IntN(40) {
		n := randomNode{modulus: []uint32{2, 3, 10000}[rng.IntN(3)], kept: rng.IntN(4) == 0, retry: rng.IntN(3)}
		if i > 2 {
			for range rng.IntN(5) { // the same dependency twice is allowed
				n.deps = append(n.deps, max(0, i-1-rng.IntN(8)))
			}
		}
		n.predicts = len(n.deps) == 0 && rng.IntN(2) == 0
		if failures && rng.IntN(4) == 0 {
			n.failEvery, n.timeouts = 2, rng.IntN(2) == 0
		}
		w.nodes = append(w.nodes, n)
		w.values = append(w.values, rng.IntN(100))
	}
	return w
}

func (w *world) chance(oneIn int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(oneIn) == 0
}

// changeLeaves gives some leaves other values.
func (w *world) changeLeaves() {
	for i := range w.nodes {
		if len(w.nodes[i].deps) == 0 && w.chance(3) {
			w.values[i] = w.rng.IntN(100)
		}
	}
}

func (w *world) graph() *Graph {
	g := New()
	for i := range w.nodes {
		n, addr := &w.nodes[i], fmt.Sprintf("n%d", i)
		s := step{
			describe: func(m *Manifest) error {
				m.String("addr", addr)
				if len(n.deps) == 0 {
					m.Int("value", int64(w.values[i]))
				}
				return nil
			},
			work: func(ctx context.Context, work *Work) (Outcome, error) { return w.run(ctx, i, work) },
		}
		var task Task = &s
		if n.predicts {
			task = &predictedLeaf{step: &s, predict: func() cache.Digest { return cache.SumBytes([]byte(w.leafText(i))) }}
		}
		node := Node{Addr: addr, Kind: "step", Task: task, Kept: n.kept, Retry: Retry{Attempts: n.retry}, Pool: []string{"", "narrow"}[i%2]}
		for k, d := range n.deps {
			node.Deps = append(node.Deps, Dep{On: ID(d), As: fmt.Sprintf("%d", k), Outputs: []string{"out"}})
		}
		g.Add(node)
	}
	return g
}

type predictedLeaf struct {
	*step
	predict func() cache.Digest
}

func (p *predictedLeaf) Predict() ([]cache.Output, error) {
	return []cache.Output{{Name: "out", Digest: p.predict()}}, nil
}

func (w *world) leafText(i int) string { return fmt.Sprint(uint32(w.values[i]) % w.nodes[i].modulus) }

var errWeather = errors.New("bad weather")

func (w *world) run(ctx context.Context, i int, work *Work) (Outcome, error) {
	n := &w.nodes[i]
	w.mu.Lock()
	w.ran[work.Addr]++
	bad := w.bad
	w.mu.Unlock()
	if bad && w.chance(10) {
		return Outcome{}, errWeather
	}
	if bad && w.store != nil && w.chance(3) {
		time.Sleep(time.Duration(w.values[i]) * time.Microsecond)
	}
	h := fnv.New32a()
	for k := range n.deps {
		as := fmt.Sprint(k)
		d, ok := work.Input(as, "out")
		if !ok {
			return Outcome{}, fmt.Errorf("bug: a node ran without its input %d", n.deps[k])
		}
		if bad && w.store != nil && w.chance(15) {
			w.store.lose(&Status{Outputs: []cache.Output{{Digest: d}}})
		}
		text, err := read(ctx, work, as)
		if err != nil {
			return Outcome{}, err
		}
		fmt.Fprintf(h, "%s;", text)
	}
	value := h.Sum32() % n.modulus
	text := fmt.Sprint(value)
	if len(n.deps) == 0 {
		text = w.leafText(i)
	}
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	if n.failEvery > 0 && value%n.failEvery == 0 && !n.timeouts {
		return Outcome{Class: cache.ClassFailed, Message: "no"}, nil
	}
	o, err := out(ctx, work, text)
	if n.failEvery > 0 && value%n.failEvery == 0 {
		o.Class, o.Message = cache.ClassTimeout, "too long"
	}
	return o, err
}

// answers returns the results of an execution, without the sources of its answers.
func answers(g *Graph, r *Report) []string {
	var all []string
	for _, id := range r.Nodes {
		st := r.Status(id)
		state := string(st.State)
		if st.State == event.Cached {
			state = string(st.Class)
		}
		digest := ""
		if o, ok := st.Output("out"); ok {
			digest = o.Digest.Hex()[:8]
		}
		all = append(all, fmt.Sprintf("%s %s %s %s %s", g.Node(id).Addr, state, digest, st.Message, st.Culprit))
	}
	return all
}

func seeds(t *testing.T) uint64 {
	if testing.Short() {
		return 30
	}
	return 120
}

// TestResumedEqualsClean: however often runs break, lose blobs or are
// interrupted, the run after them has the answers of a run that was never
// disturbed, and the run after that has nothing to do.
func TestResumedEqualsClean(t *testing.T) {
	for seed := range seeds(t) {
		w := newWorld(seed, true)
		p := &project{t: t, store: w.store, lock: w.store.Memory, last: lasts{}}
		options := func() Options {
			o := p.options()
			o.Pools["narrow"] = 1
			o.LockPoll = 100 * time.Microsecond
			return o
		}
		for range 4 {
			w.changeLeaves()
			w.bad = true
			g := w.graph()
			ctx, cancel := context.WithCancel(t.Context())
			o := options()
			if left := w.rng.IntN(2 * len(w.nodes)); w.rng.IntN(2) == 0 {
				o.Stop = stopAfter(left)
			} else {
				over := stopAfter(left)
				o.Stop = func(id ID, st *Status) bool {
					if over(id, st) {
						cancel()
					}
					return false
				}
			}
			if w.rng.IntN(2) == 0 {
				o.Force = func(n *Node) bool { return strings.HasSuffix(n.Addr, "1") }
			}
			r := p.executeWith(ctx, g, o)
			cancel()
			for _, id := range r.Nodes {
				if st := r.Status(id); strings.HasPrefix(st.Message, "bug") {
					t.Fatalf("seed %d: %s: %s", seed, g.Node(id).Addr, st.Message)
				}
			}
		}
		w.bad = false
		g := w.graph()
		r := p.executeWith(t.Context(), g, options())
		got := answers(g, r)

		cleanStore := newLossy()
		clean := &project{t: t, store: cleanStore, lock: cleanStore.Memory, last: lasts{}}
		cg := w.graph()
		o := clean.options()
		o.Pools["narrow"] = 2
		want := answers(cg, clean.executeWith(t.Context(), cg, o))
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: resumed\n%s\nclean\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if r.Broken+r.Interrupted > 0 {
			t.Fatalf("seed %d: in good weather %+v", seed, r)
		}

		clear(w.ran)
		again := w.graph()
		r = p.executeWith(t.Context(), again, options())
		for _, id := range r.Nodes {
			if addr := again.Node(id).Addr; w.ran[addr] > 0 {
				t.Fatalf("seed %d: %s ran again: %s", seed, addr, r.Status(id).Cause)
			}
		}
	}
}

// TestDryRunDecidesLikeARun: nodes that a plan calls certainly stale run, nodes that run were called stale or likely to
// follow, and fresh ones do not run.
func TestDryRunDecidesLikeARun(t *testing.T) {
	for seed := range seeds(t) {
		w := newWorld(seed, seed%2 == 0)
		p := &project{t: t, store: w.store.Memory, lock: w.store.Memory, last: lasts{}}
		for range 4 {
			w.changeLeaves()
			g := w.graph()
			planned := p.plan(g)
			if len(w.ran) > 0 {
				t.Fatalf("seed %d: the plan ran %v", seed, w.ran)
			}
			o := p.options()
			o.Pools["narrow"] = 1
			r := p.executeWith(t.Context(), g, o)
			for _, id := range r.Nodes {
				st, plan, addr := r.Status(id), planned.Status(id), g.Node(id).Addr
				ran := w.ran[addr] > 0
				certain := plan.Stale && plan.Category != "follows"
				switch {
				case certain && !ran && st.State != event.Blocked:
					t.Fatalf("seed %d: %s was planned (%s) and did not run: %s", seed, addr, plan.Cause, st.State)
				case ran && !plan.Stale:
					t.Fatalf("seed %d: %s ran (%s) and was planned to be %s", seed, addr, st.Cause, plan.State)
				case certain && ran && plan.Key != st.Key:
					t.Fatalf("seed %d: %s has another key than planned", seed, addr)
				case plan.State == event.Cached && (st.State != event.Cached || st.Key != plan.Key || !slices.Equal(st.Outputs, plan.Outputs)):
					t.Fatalf("seed %d: %s was planned to be fresh and is %s", seed, addr, st.State)
				}
			}
			clear(w.ran)
		}
	}
}
