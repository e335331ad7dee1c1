package skypilot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/backend/worker/workerhost"
	"github.com/fevalgraph/fevalgraph/cache"
)

// cloud is a provider whose clusters are workers in this process.
type cloud struct {
	t      *testing.T
	leases Leases
	refuse error // breaks launches

	mu       sync.Mutex
	clusters map[string]*machine
	launches int
	ends     int
	away     int // questions about states that are not answered
	identity string
	runs     func(ctx context.Context, c *fake.Call) (backend.Exit, error)
}

type machine struct {
	backend *fake.Backend
	address workerhost.Address
	stop    func()
}

func newCloud(t *testing.T) *cloud {
	c := &cloud{t: t, leases: Leases{Dir: t.TempDir(), Key: backend.SessionKey("secret")}, clusters: map[string]*machine{}, identity: "1"}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for name, m := range c.clusters {
			t.Errorf("cluster %s was left behind", name)
			m.stop()
		}
	})
	return c
}

func (c *cloud) Launch(_ context.Context, cluster string, _ Task) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.launches++
	if _, err := os.Stat(c.leases.path(cluster)); err != nil {
		c.t.Errorf("a cluster is launched before there is a lease: %v", err)
	}
	if c.refuse != nil {
		return c.refuse
	}
	store := cache.NewMemory()
	m := &machine{backend: fake.New(store, c.runs)}
	m.backend.Can.Isolation = func() string { return "full" }
	m.backend.Ident = backend.Identity{{Label: "platform", Value: c.identity}}
	access, certificate, err := worker.NewAccess()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	m.address = workerhost.Address{Access: access, Address: listener.Addr().String()}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	server := worker.NewServer(worker.Host{Store: store, Backend: m.backend, Spool: c.t.TempDir()}, worker.ServerOptions{Token: access.Token})
	go func() {
		defer close(ended)
		if err := server.Serve(ctx, listener, certificate); err != nil {
			c.t.Error(err)
		}
	}()
	m.stop = func() { stop(); <-ended }
	c.clusters[cluster] = m
	return nil
}

func (c *cloud) State(_ context.Context, cluster string) (State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away > 0 {
		c.away--
		return "", errors.New("the provider is away")
	}
	if c.clusters[cluster] == nil {
		return Gone, nil
	}
	return Up, nil
}

func (c *cloud) Failed(context.Context, string) error { return nil }

func (c *cloud) End(_ context.Context, cluster string) error {
	c.mu.Lock()
	m := c.clusters[cluster]
	delete(c.clusters, cluster)
	c.ends++
	c.mu.Unlock()
	if m != nil {
		m.stop()
	}
	return nil
}

// Run implements Remote: it knows the scripts by what is in them.
func (c *cloud) Run(_ context.Context, cluster, script string, in io.Reader) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if in != nil {
		io.Copy(io.Discard, in)
	}
	if m := c.clusters[cluster]; m != nil && strings.Contains(script, workerhost.AddressFile) {
		return json.Marshal(m.address)
	}
	return nil, nil
}

func (c *cloud) Dial(ctx context.Context, cluster, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

func (c *cloud) counts() (launches, up int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.launches, len(c.clusters)
}

// options are those of a pool of a run; dead runs are those that are not "living".
func (c *cloud) options(run string) Options {
	program := filepath.Join(c.t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("the same"), 0o700); err != nil {
		c.t.Fatal(err)
	}
	return Options{
		Provider: c, Remote: c, Store: cache.NewMemory(), Leases: c.leases, Living: func(run string) (bool, error) { return run == "living", nil },
		Facts: filepath.Join(c.leases.Dir, "facts", "f.json"), Hourly: func() *float64 { return nil },
		Name: "skypilot.b", Project: "abc", Run: run, Machines: "m", Slots: 2, MaxClusters: 2, Deadline: time.Minute, Program: program,
	}
}

func (c *cloud) pool(o Options) *Pool {
	c.t.Helper()
	p, err := NewPool(o)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

func closed(t *testing.T, p *Pool) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestEnough(t *testing.T) {
	for _, test := range []struct {
		nodes       int
		seconds     float64
		slots, most int
		want        int
	}{
		{0, 0, 4, 8, 0}, {1, 1, 4, 8, 1}, {200, 40, 4, 8, 1}, {200, 240, 4, 8, 1}, {200, 241, 4, 8, 2}, {200, 9000, 4, 8, 8},
		{2, 9000, 1, 8, 2}, {3, 9000, 2, 8, 2}, // no cluster without a node
		{100, 0, 4, 8, 5}, // 10 s each where nothing is known
		{1000, 9000, 4, 1, 1},
	} {
		if got := Enough(test.nodes, test.seconds, test.slots, test.most); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

// Sessions share clusters up to their slots, and clusters are bounded.
func TestSlots(t *testing.T) {
	c := newCloud(t)
	o := c.options("r")
	o.Waiting = func() (int, float64) { return 100, 1000 }
	p := c.pool(o)
	var open []backend.Session
	for range 4 {
		s, err := p.Backend().Open(t.Context(), backend.Spec{Name: "n"})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, s)
	}
	if n, up := c.counts(); n != 2 || up != 2 {
		t.Errorf("%d launches, %d up; want 2 for 4 sessions", n, up)
	}
	// A fifth waits for a slot, and no third cluster is launched.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Backend().Open(ctx, backend.Spec{Name: "n"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the fifth: %v", err)
	}
	for _, s := range open {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	closed(t, p)
	if n, up := c.counts(); n != 2 || up != 0 {
		t.Errorf("%d launches, %d up afterwards", n, up)
	}
	if left, err := c.leases.All(); err != nil || len(left) > 0 {
		t.Errorf("leases %+v, %v", left, err)
	}
}

// One launch that fails is the answer for all that wait.
func TestRefused(t *testing.T) {
	c := newCloud(t)
	c.refuse = errors.New("no such machines in this region")
	o := c.options("r")
	o.MaxClusters = 1
	p := c.pool(o)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := p.Backend().Open(t.Context(), backend.Spec{}); err == nil || !strings.Contains(err.Error(), "no such machines in this region") {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
	if n, _ := c.counts(); n != 1 {
		t.Errorf("%d launches, want 1", n)
	}
	closed(t, p)
	if left, _ := c.leases.All(); len(left) > 0 {
		t.Errorf("leases %+v", left)
	}
}

// What ran on a cluster that went away is preempted, and the next one gets another.
func TestLostCluster(t *testing.T) {
	c := newCloud(t)
	p := c.pool(c.options("r"))
	s, err := p.Backend().Open(t.Context(), backend.Spec{Name: "n"})
	if err != nil {
		t.Fatal(err)
	}
	leases, _ := c.leases.All()
	if len(leases) != 1 || leases[0].Run != "r" {
		t.Fatalf("leases %+v", leases)
	}
	p.clusters[0].asked = func() (State, error) { return c.State(context.Background(), leases[0].Cluster) }
	if err := c.End(t.Context(), leases[0].Cluster); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"x"}}); !errors.As(err, new(*backend.PreemptedError)) {
		t.Errorf("got %v, want a *PreemptedError", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("closing what is gone: %v", err)
	}
	if s, err = p.Backend().Open(t.Context(), backend.Spec{Name: "n"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	closed(t, p)
	if n, _ := c.counts(); n != 2 {
		t.Errorf("%d launches, want 2", n)
	}
}

// A cluster that was kept, or left by a run that died, serves the next run with what goes
// on there. Those of living runs are theirs, and forged leases are ignored.
func TestAdopted(t *testing.T) {
	c := newCloud(t)
	running, finish := make(chan struct{}, 9), make(chan struct{})
	c.runs = func(ctx context.Context, call *fake.Call) (backend.Exit, error) {
		running <- struct{}{}
		<-finish
		return backend.Exit{Code: 5}, nil
	}
	o := c.options("dead")
	o.Keep = time.Hour
	first := c.pool(o)
	spec := backend.Spec{Name: "n"}
	s, err := first.Backend().Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, vanish := context.WithCancel(t.Context())
	go s.Exec(ctx, backend.Command{Argv: []string{"x"}}) // its answer is the next run's
	<-running
	forged := Lease{Cluster: "fg-abc-forged", Kind: first.kind, Run: "dead"}
	if err := (Leases{Dir: c.leases.Dir, Key: backend.SessionKey("another")}).Write(forged); err != nil {
		t.Fatal(err)
	}

	c.mu.Lock()
	c.away = 1 // which is waited for, instead of launching another
	c.mu.Unlock()
	next := c.options("r")
	next.Program = o.Program
	p := c.pool(next)
	if s, err = p.Backend().Open(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	close(finish)
	if exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"x"}}); err != nil || exit.Code != 5 {
		t.Errorf("got %+v, %v", exit, err)
	}
	vanish()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n, _ := c.counts(); n != 1 || len(running) != 0 {
		t.Errorf("%d launches, ran again: %v", n, len(running) != 0)
	}
	if l, err := c.leases.All(); err != nil || len(l) != 1 || l[0].Run != "r" {
		t.Errorf("leases %+v, %v", l, err)
	}
	closed(t, p)
	if err := os.Remove(c.leases.path(forged.Cluster)); err != nil {
		t.Errorf("the forged lease: %v", err)
	}
	first.opt.Keep = 0
	first.Close()
}

// What machines say of themselves outlives them, and a machine that says something else gets
// no work.
func TestFacts(t *testing.T) {
	c := newCloud(t)
	o := c.options("r")
	p := c.pool(o)
	for range 2 {
		id, err := p.Backend().Identity(t.Context())
		if err != nil || id[0].Value != "1" {
			t.Fatalf("got %v, %v", id, err)
		}
	}
	if level := p.Backend().Capabilities().Level(); level != "full" {
		t.Errorf("isolation %q", level)
	}
	closed(t, p)

	reading := o
	reading.NotAsked = errors.New("not asked")
	p = c.pool(reading)
	if id, err := p.Backend().Identity(t.Context()); err != nil || id[0].Value != "1" {
		t.Errorf("remembered: %v, %v", id, err)
	}
	if _, err := p.Backend().Capabilities().Programs(t.Context(), []string{"x"}); !errors.Is(err, reading.NotAsked) {
		t.Errorf("what is not known: %v", err)
	}
	closed(t, p)
	if n, _ := c.counts(); n != 1 {
		t.Errorf("%d launches, want 1", n)
	}

	c.identity = "2"
	p = c.pool(o)
	if _, err := p.Backend().Open(t.Context(), backend.Spec{}); err == nil || !strings.Contains(err.Error(), `platform was "1" and is "2"`) {
		t.Errorf("a machine that differs: %v", err)
	}
	closed(t, p)
	p = c.pool(o)
	if id, err := p.Backend().Identity(t.Context()); err != nil || id[0].Value != "2" {
		t.Errorf("the next run: %v, %v", id, err)
	}
	closed(t, p)
}

func TestMaxCost(t *testing.T) {
	c := newCloud(t)
	price := 3.0
	for _, test := range []struct {
		hourly *float64
		limit  float64
		want   string
	}{{&price, 5, ""}, {&price, 2, "could spend $3.00 in its first hour, more than $2.00"}, {nil, 5, "is not known"}} {
		o := c.options("r")
		o.Hourly, o.MaxCost = func() *float64 { return test.hourly }, test.limit
		p := c.pool(o)
		s, err := p.Backend().Open(t.Context(), backend.Spec{})
		if got := fmt.Sprint(err); (err == nil) != (test.want == "") || test.want != "" && !strings.Contains(got, test.want) {
			t.Errorf("%+v: %v", test, err)
		}
		if err == nil {
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		closed(t, p)
	}
}

// What is prepared on one cluster is prepared on the next one before it gets a session.
func TestPrepared(t *testing.T) {
	c := newCloud(t)
	o := c.options("r")
	o.Slots, o.Waiting = 1, func() (int, float64) { return 100, 1000 }
	p := c.pool(o)
	if _, exit, err := p.Backend().Prepare(t.Context(), "env", backend.Command{Argv: []string{"install"}}); err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	for range 2 {
		s, err := p.Backend().Open(t.Context(), backend.Spec{Name: "n"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(context.Background())
	}
	c.mu.Lock()
	for name, m := range c.clusters {
		if calls := m.backend.Calls(); len(calls) != 1 || calls[0].Command.Argv[0] != "install" {
			t.Errorf("cluster %s ran %d commands", name, len(calls))
		}
	}
	c.mu.Unlock()
	closed(t, p)
}
