//go:build unix

package skypilot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/skypilot"
)

func TestEnough(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		nodes   int
		seconds float64
		slots   int
		most    int
		want    int
	}{
		{0, 0, 4, 10, 0},
		{1, 0, 4, 10, 1},
		{1, 1e6, 4, 10, 1},    // one node is on one cluster
		{4, 1e6, 4, 10, 1},    // and so are as many as it has slots
		{5, 1e6, 4, 10, 2},    // one more is worth another, if it is long
		{500, 60, 4, 10, 1},   // short nodes wait
		{500, 240, 4, 10, 1},  // as long as a launch takes
		{500, 241, 4, 10, 2},  // and no longer
		{500, 1e6, 4, 10, 10}, // up to the limit
		{24, 0, 4, 10, 1},     // not known: ten seconds each
		{25, 0, 4, 10, 2},
	} {
		if got := skypilot.Enough(test.nodes, test.seconds, test.slots, test.most); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}

// TestSlots opens many sessions at once on few clusters.
func TestSlots(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var now, most atomic.Int32
	var mu sync.Mutex
	at := map[*fake.Files]bool{}
	s.program = func(_ context.Context, c *fake.Call) (backend.Exit, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		mu.Lock()
		defer mu.Unlock()
		at[c.Files] = true
		return backend.Exit{}, nil
	}
	p := newProject(t, s)
	pool := p.pool(t, "r", func(o *skypilot.Options) {
		o.MaxClusters = 3
		o.Waiting = func() (int, float64) { return 1000, 1e6 }
	})
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			session := open(t, pool, fmt.Sprint(i))
			defer session.Close(t.Context())
			if _, _, err := run(t, session, "x"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(at) != 200 || most.Load() > 6 || s.most > 3 || len(s.names()) > 3 {
		t.Errorf("%d sessions, %d at once, on %d clusters, %d at once", len(at), most.Load(), len(s.names()), s.most)
	}
	closed(t, pool)
	if s.up() != 0 || len(p.has(t)) != 0 {
		t.Errorf("%d clusters and %d leases are left", s.up(), len(p.has(t)))
	}
}

// TestSecondCluster launches another cluster only where it helps.
func TestSecondCluster(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		seconds float64
		want    int
	}{{50, 1}, {1e5, 2}} {
		s := newSite(t)
		pool := newProject(t, s).pool(t, "r", func(o *skypilot.Options) {
			o.MaxClusters, o.Slots = 2, 1
			o.Waiting = func() (int, float64) { return 100, test.seconds }
		})
		first := open(t, pool, "a")
		opened := make(chan backend.Session, 1)
		go func() { opened <- open(t, pool, "b") }()
		if test.want == 2 {
			second := <-opened
			second.Close(t.Context())
		}
		first.Close(t.Context())
		if test.want == 1 {
			(<-opened).Close(t.Context())
		}
		if n := len(s.names()); n != test.want {
			t.Errorf("%v seconds of work on %d clusters", test.seconds, n)
		}
	}
}

func TestLaunchFails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out := errors.New("ResourcesUnavailableError: no quota in us-east1")
	asked := make(chan struct{})
	s.onLaunch = func(context.Context, string) error {
		<-asked
		return out
	}
	p := newProject(t, s)
	pool := p.pool(t, "r", func(o *skypilot.Options) { o.MaxClusters = 4 })
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if _, err := pool.Backend().Open(t.Context(), backend.Spec{}); !errors.Is(err, out) {
				t.Errorf("got %v", err)
			}
		})
	}
	close(asked)
	all.Wait()
	if n := len(s.names()); n > 4 {
		t.Errorf("%d clusters were requested", n)
	}
	if !slices.Equal(slices.Sorted(slices.Values(s.ended)), slices.Sorted(slices.Values(s.names()))) || len(p.has(t)) != 0 {
		t.Errorf("launched %v, ended %v, leases %v", s.names(), s.ended, p.has(t))
	}
}

// TestMachineTakenAway takes a cluster away while a command runs on it.
func TestMachineTakenAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	started := make(chan struct{}, 1)
	s.program = func(ctx context.Context, c *fake.Call) (backend.Exit, error) {
		if c.Command.Argv[0] == "slow" {
			started <- struct{}{}
			<-ctx.Done()
		}
		return backend.Exit{Code: 9}, nil
	}
	p := newProject(t, s)
	pool := p.pool(t, "r", nil)
	session, other := open(t, pool, "a"), open(t, pool, "b")
	failed := make(chan error, 1)
	go func() {
		_, err := session.Exec(context.Background(), backend.Command{Argv: []string{"slow"}})
		failed <- err
	}()
	<-started
	s.kill(s.names()[0])
	lost := (*backend.PreemptedError)(nil)
	if err := <-failed; !errors.As(err, &lost) {
		t.Errorf("the command: %v", err)
	}
	if _, _, err := run(t, other, "x"); !errors.As(err, &lost) {
		t.Errorf("another session: %v", err)
	}
	for _, s := range []backend.Session{session, other} {
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("closing a session: %v", err)
		}
	}
	again := open(t, pool, "a")
	defer again.Close(t.Context())
	if exit, _, err := run(t, again, "x"); err != nil || exit.Code != 9 {
		t.Errorf("on another cluster: %+v, %v", exit, err)
	}
	if len(s.names()) != 2 {
		t.Errorf("launched %v", s.names())
	}
	if has := p.has(t); len(has) != 1 || has[0].Cluster != s.names()[1] {
		t.Errorf("leases: %+v", has)
	}
}

// TestDifferent: a cluster differs from the one before.
func TestDifferent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cpu := "Zen 4"
	s.identity = func(string) string { return cpu }
	p := newProject(t, s)
	pool := p.pool(t, "first", nil)
	if _, err := pool.Backend().Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	closed(t, pool)
	cpu = "Zen 5"
	pool = p.pool(t, "second", nil)
	if known, err := pool.Backend().Identity(t.Context()); err != nil || known[1].Value != "Zen 4" || len(s.names()) != 1 {
		t.Errorf("what is known needs no cluster: %v, %v, %v", known, err, s.names())
	}
	for range 2 { // other work of the run cannot rely on it either
		_, err := pool.Backend().Open(t.Context(), backend.Spec{})
		if err == nil || !strings.Contains(err.Error(), `cpu was "Zen 4" and is "Zen 5"`) {
			t.Errorf("got %v", err)
		}
	}
	closed(t, pool)
	if s.up() != 0 || len(p.has(t)) != 0 {
		t.Errorf("%d clusters are up, leases %+v", s.up(), p.has(t))
	}
	pool = p.pool(t, "third", nil)
	open(t, pool, "a").Close(t.Context())
	if known, err := pool.Backend().Identity(t.Context()); err != nil || known[1].Value != "Zen 5" {
		t.Errorf("the next run knows %v, %v", known, err)
	}
}

// TestLearnedLate queries machines after two clusters exist.
func TestLearnedLate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.identity = func(cluster string) string { return cluster }
	pool := newProject(t, s).pool(t, "r", func(o *skypilot.Options) {
		o.MaxClusters, o.Slots = 2, 1
		o.Waiting = func() (int, float64) { return 100, 1e6 }
	})
	a, b := open(t, pool, "a"), open(t, pool, "b")
	a.Close(t.Context())
	b.Close(t.Context())
	if _, err := pool.Backend().Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, err := pool.Backend().Open(t.Context(), backend.Spec{})
	if err == nil {
		defer first.Close(t.Context())
		_, err = pool.Backend().Open(t.Context(), backend.Spec{})
	}
	if err == nil || !strings.Contains(err.Error(), "cpu was") {
		t.Errorf("the other cluster is another machine: %v", err)
	}
	// Newly learned facts do not enter keys of this run.
	if _, err := pool.Backend().Open(t.Context(), backend.Spec{}); err == nil {
		t.Error("the run goes on with the other cluster")
	}
}

func TestNotAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	unknown := errors.New("not known")
	pool := newProject(t, s).pool(t, "r", func(o *skypilot.Options) { o.NotAsked = unknown })
	if _, err := pool.Backend().Identity(t.Context()); !errors.Is(err, unknown) {
		t.Errorf("identity: %v", err)
	}
	if _, err := pool.Sandbox().Identity(t.Context()); !errors.Is(err, unknown) {
		t.Errorf("sandbox: %v", err)
	}
	if _, err := pool.Backend().Open(t.Context(), backend.Spec{}); !errors.Is(err, unknown) || len(s.names()) != 0 {
		t.Errorf("open: %v, launched %v", err, s.names())
	}
}

// TestMaxCost refuses clusters that the run cannot pay for.
func TestMaxCost(t *testing.T) {
	t.Parallel()
	dollars := func(d float64) func() *float64 { return func() *float64 { return &d } }
	for _, test := range []struct {
		name   string
		hourly func() *float64
		max    float64
		want   int // clusters
	}{
		{"not known", func() *float64 { return nil }, 5, 0},
		{"too dear", dollars(6), 5, 0},
		{"one", dollars(3), 5, 1},
		{"two at once", dollars(2), 5, 2},
	} {
		s := newSite(t)
		p := newProject(t, s)
		pool := p.pool(t, "r", func(o *skypilot.Options) {
			o.MaxClusters, o.Slots, o.Hourly, o.MaxCost = 4, 1, test.hourly, test.max
			o.Waiting = func() (int, float64) { return 100, 1e6 }
		})
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				session, err := pool.Backend().Open(t.Context(), backend.Spec{Name: fmt.Sprint(i)})
				wrong := (*backend.SettingError)(nil)
				switch {
				case err == nil:
					session.Close(t.Context())
				case test.want > 0 || !errors.As(err, &wrong) || wrong.Setting != "max_cost":
					t.Errorf("%s: %v", test.name, err)
				}
			})
		}
		all.Wait()
		if n := len(s.names()); n > test.want || n == 0 && test.want > 0 {
			t.Errorf("%s: launched %d clusters", test.name, n)
		}
		if test.want == 0 && len(p.has(t)) != 0 {
			t.Errorf("%s: leases %+v", test.name, p.has(t))
		}
	}
}

// TestCloseDuringLaunch stops a run while clusters are launched, including clusters that wait for others.
func TestCloseDuringLaunch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	synctest.Test(t, func(t *testing.T) {
		s.onLaunch = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		serial := make(chan struct{}, 1)
		pool := p.pool(t, "r", func(o *skypilot.Options) { o.Serial, o.Deadline = serial, time.Hour })
		behind := p.pool(t, "r", func(o *skypilot.Options) { o.Serial, o.Deadline, o.Machines = serial, time.Hour, "cpu:2" })
		failed := make(chan error, 2)
		for _, p := range []*skypilot.Pool{pool, behind} {
			go func() {
				_, err := p.Backend().Open(context.Background(), backend.Spec{})
				failed <- err
			}()
			synctest.Wait()
		}
		begun := time.Now()
		closed(t, behind) // first: the other continues
		closed(t, pool)
		for range 2 {
			if err := <-failed; err == nil {
				t.Error("a session was opened")
			}
		}
		if waited := time.Since(begun); waited > time.Minute {
			t.Errorf("closing took %v", waited)
		}
		if len(s.names()) != 1 || !slices.Equal(s.ended, s.names()) || len(p.has(t)) != 0 {
			t.Errorf("launched %v, ended %v, leases %+v", s.names(), s.ended, p.has(t))
		}
		if _, err := pool.Backend().Open(t.Context(), backend.Spec{}); err == nil {
			t.Error("a closed pool opens sessions")
		}
	})
}

// TestDeadline gives up a cluster that does not come.
func TestDeadline(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.onLaunch = func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return errors.New("interrupted")
	}
	p := newProject(t, s)
	pool := p.pool(t, "r", func(o *skypilot.Options) { o.Deadline = 10 * time.Millisecond })
	if _, err := pool.Backend().Open(t.Context(), backend.Spec{}); err == nil || !strings.Contains(err.Error(), "deadline of 10ms") {
		t.Errorf("got %v", err)
	}
	if !slices.Equal(s.ended, s.names()) || len(p.has(t)) != 0 {
		t.Errorf("ended %v, leases %+v", s.ended, p.has(t))
	}
}

// TestPreparedAgain: a second cluster is prepared like the first one.
func TestPreparedAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var mu sync.Mutex
	prepared := map[string][]string{}
	s.prepare = func(cluster, name string) {
		mu.Lock()
		defer mu.Unlock()
		prepared[cluster] = append(prepared[cluster], name)
	}
	pool := newProject(t, s).pool(t, "r", nil)
	for range 2 {
		if _, exit, err := pool.Backend().Prepare(t.Context(), "numpy", backend.Command{Argv: []string{"uv"}}); err != nil || exit.Code != 0 {
			t.Fatalf("%+v, %v", exit, err)
		}
	}
	first := open(t, pool, "a")
	s.kill(s.names()[0])
	if _, _, err := run(t, first, "x"); err == nil {
		t.Error("the machine is gone")
	}
	first.Close(t.Context())
	for _, name := range []string{"a", "b"} {
		open(t, pool, name).Close(t.Context())
	}
	mu.Lock()
	defer mu.Unlock()
	if got := prepared[s.names()[1]]; !slices.Equal(got, []string{"numpy"}) {
		t.Errorf("the second cluster was prepared with %q", got)
	}
}
