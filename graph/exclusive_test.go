package graph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sharer observes that no two nodes share what is exclusive.
type sharer struct {
	t     *testing.T
	mu    sync.Mutex
	start time.Time
	used  map[string]string // name -> address
	began map[string]int    // address -> seconds after start
}

func newSharer(t *testing.T) *sharer {
	return &sharer{t: t, start: time.Now(), used: map[string]string{}, began: map[string]int{}}
}

// step is work of some seconds with exclusive use of the names.
func (s *sharer) step(addr string, seconds int, names ...string) *step {
	return &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		s.mu.Lock()
		s.began[addr] = int(time.Since(s.start) / time.Second)
		for _, name := range names {
			if other := s.used[name]; other != "" {
				s.t.Errorf("%s and %s share %q", addr, other, name)
			}
			s.used[name] = addr
		}
		s.mu.Unlock()
		time.Sleep(time.Duration(seconds) * time.Second)
		s.mu.Lock()
		for _, name := range names {
			delete(s.used, name)
		}
		s.mu.Unlock()
		return out(ctx, w, addr)
	}}
}

// timed is a node of the tests below.
type timed struct {
	addr    string
	seconds int
	pool    string
	names   []string
}

// schedule runs jobs whose seconds are known from earlier, and returns how long
// that took and who began when.
func schedule(t *testing.T, pools map[string]int, jobs ...timed) (seconds float64, began map[string]int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, g, s := newProject(t), New(), newSharer(t)
		for _, j := range jobs {
			n := g.Node(add(g, j.addr, s.step(j.addr, j.seconds, j.names...)))
			n.Pool, n.Exclusive = j.pool, j.names
			p.last.expect(j.addr, float64(j.seconds))
		}
		o := p.options()
		o.Pools = pools
		r := p.executeWith(t.Context(), g, o)
		if r.Executed != len(jobs) {
			t.Errorf("%d of %d ran", r.Executed, len(jobs))
		}
		seconds, began = r.Seconds, s.began
	})
	return seconds, began
}

func TestExclusive(t *testing.T) {
	const web, sql = "port 8080", "port 5432"
	two := map[string]int{CPUPool: 2}
	for _, test := range []struct {
		name    string
		pools   map[string]int
		jobs    []timed
		seconds float64
		began   map[string]int
	}{{
		name: "one after another, with any number of slots", pools: map[string]int{CPUPool: 8},
		jobs:    []timed{{addr: "a", seconds: 1, names: []string{web}}, {addr: "b", seconds: 1, names: []string{web}}, {addr: "c", seconds: 1, names: []string{web}}},
		seconds: 3, began: map[string]int{"a": 0, "b": 1, "c": 2},
	}, {
		name: "different names do not meet", pools: two,
		jobs:    []timed{{addr: "a", seconds: 3, names: []string{web}}, {addr: "b", seconds: 3, names: []string{sql}}},
		seconds: 3, began: map[string]int{"a": 0, "b": 0},
	}, {
		name: "a waiting one delays no other", pools: two,
		jobs: []timed{{addr: "a", seconds: 4, names: []string{web}}, {addr: "b", seconds: 3, names: []string{web}},
			{addr: "c", seconds: 2}, {addr: "d", seconds: 2}, {addr: "e", seconds: 2}},
		seconds: 7, began: map[string]int{"a": 0, "b": 4, "c": 0, "d": 2, "e": 4},
	}, {
		name: "the longest chain first among waiting ones", pools: two,
		jobs: []timed{{addr: "short", seconds: 1, names: []string{web}}, {addr: "long", seconds: 3, names: []string{web}},
			{addr: "middle", seconds: 2, names: []string{web}}},
		seconds: 6, began: map[string]int{"long": 0, "middle": 3, "short": 5},
	}, {
		name: "together they are a chain, which comes before longer work", pools: two,
		jobs: []timed{{addr: "a", seconds: 3, names: []string{web}}, {addr: "b", seconds: 3, names: []string{web}},
			{addr: "c", seconds: 4}, {addr: "d", seconds: 4}},
		seconds: 7, began: map[string]int{"a": 0, "b": 4, "c": 0, "d": 3}, // c and d first would take 10
	}, {
		name: "across pools", pools: map[string]int{CPUPool: 2, "gpu": 2},
		jobs: []timed{{addr: "a", seconds: 2, names: []string{web}}, {addr: "b", seconds: 2, pool: "gpu", names: []string{web}},
			{addr: "c", seconds: 2, pool: "gpu"}, {addr: "d", seconds: 2}},
		seconds: 4, began: map[string]int{"a": 0, "b": 2, "c": 0, "d": 0},
	}, {
		name: "several names at once", pools: map[string]int{CPUPool: 3},
		jobs: []timed{{addr: "web", seconds: 2, names: []string{web}}, {addr: "sql", seconds: 3, names: []string{sql}},
			{addr: "both", seconds: 1, names: []string{sql, web}}},
		seconds: 4, began: map[string]int{"web": 0, "sql": 0, "both": 3},
	}} {
		t.Run(test.name, func(t *testing.T) {
			seconds, began := schedule(t, test.pools, test.jobs...)
			if seconds != test.seconds || !maps.Equal(began, test.began) {
				t.Errorf("took %v seconds, began at %v; want %v, %v", seconds, began, test.seconds, test.began)
			}
		})
	}
}

// TestExclusiveRandom: exclusive nodes share with none, and all run, in any graph.
func TestExclusiveRandom(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		jobs := make([]timed, 30)
		for i := range jobs {
			jobs[i] = timed{addr: fmt.Sprint("n", i), seconds: random.IntN(5), pool: []string{"", "gpu"}[random.IntN(2)]}
			for _, name := range []string{"x", "y", "z"} {
				if random.IntN(3) == 0 {
					jobs[i].names = append(jobs[i].names, name)
				}
			}
			random.Shuffle(len(jobs[i].names), func(a, b int) {
				jobs[i].names[a], jobs[i].names[b] = jobs[i].names[b], jobs[i].names[a]
			})
		}
		schedule(t, map[string]int{CPUPool: 1 + random.IntN(4), "gpu": 1 + random.IntN(4)}, jobs...)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestExclusiveGivenBack: a name is free while its node waits for its next
// attempt, or for another worker that has its key.
func TestExclusiveGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g, s := newProject(t), New(), newSharer(t)
		const name = "port 8080"
		attempts := 0
		flaky := add(g, "flaky", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
			if attempts++; attempts == 1 {
				return Outcome{}, errors.New("no network")
			}
			return s.step("flaky", 1, name).work(ctx, w)
		}})
		g.Node(flaky).Retry = Retry{Attempts: 2, Wait: 10 * time.Second}
		add(g, "taken", s.step("taken", 1, name))
		add(g, "other", s.step("other", 1, name))
		for id := range ID(g.Len()) {
			g.Node(id).Exclusive = []string{name}
		}
		m := newManifest("step", nil)
		m.String("addr", "taken")
		release, ok, err := p.lock.Lock(t.Context(), m.Key())
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		time.AfterFunc(5*time.Second, release)
		r := p.execute(g)
		wantStates(t, g, r, "flaky done", "taken done", "other done")
		if want := map[string]int{"other": 0, "taken": 5, "flaky": 10}; !maps.Equal(s.began, want) || attempts != 2 {
			t.Errorf("began at %v, want %v; %d attempts", s.began, want, attempts)
		}
	})
}

// TestSameKey: one of the nodes with a key works, and the others get its answer at once; their slots are free
// meanwhile.
func TestSameKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := newProject(t), New()
		began := time.Now()
		work := func(seconds int) *step {
			return &step{
				describe: func(m *Manifest) error { m.Int("seconds", int64(seconds)); return nil },
				work: func(ctx context.Context, w *Work) (Outcome, error) {
					time.Sleep(time.Duration(seconds) * time.Second)
					return out(ctx, w, fmt.Sprint(seconds))
				},
			}
		}
		first, second, other := work(2), work(2), work(1)
		add(g, "a", first)
		add(g, "b", second)
		add(g, "c", other)
		o := p.options()
		o.LockPoll, o.Pools = time.Hour, map[string]int{CPUPool: 2}
		r := p.executeWith(t.Context(), g, o)
		wantStates(t, g, r, "a done", "b cached", "c done")
		if ran := first.ran.Load() + second.ran.Load(); ran != 1 {
			t.Errorf("the work of one key was done %d times", ran)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
