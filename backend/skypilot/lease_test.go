//go:build unix

package skypilot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/skypilot"
)

// TestLeases follows the lease of a cluster.
func TestLeases(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	s.onLaunch = func(_ context.Context, cluster string) error {
		if has := p.has(t); len(has) != 1 || has[0].Cluster != cluster || has[0].Run != "r" {
			t.Errorf("when %s is launched the leases are %+v", cluster, has)
		}
		return nil
	}
	stuck := errors.New("the API server is down")
	s.onEnd = func(cluster string) error {
		if has := p.has(t); len(has) != 1 || has[0].Cluster != cluster {
			t.Errorf("when %s is ended the leases are %+v", cluster, has)
		}
		return stuck
	}
	pool := p.pool(t, "r", nil)
	open(t, pool, "a").Close(t.Context())
	if err := pool.Close(); !errors.Is(err, stuck) || len(p.has(t)) != 1 {
		t.Errorf("a cluster that cannot be ended: %v, leases %+v", err, p.has(t))
	}
	s.onEnd, s.onLaunch = nil, nil
	o := skypilot.Options{Provider: s, Remote: s, Leases: p.leases}
	if err := o.End(t.Context(), p.has(t)[0]); err != nil || len(p.has(t)) != 0 || s.up() != 0 {
		t.Errorf("ending it: %v, leases %+v", err, p.has(t))
	}
	if entries, err := os.ReadDir(filepath.Join(s.home, ".fevalgraph")); err != nil || len(entries) != 1 { // bin
		t.Errorf("left on the cluster: %v, %v", entries, err)
	}
}

// TestNotReady: without a provider, no cluster is ended and no lease removed.
func TestNotReady(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	s.notReady = errors.New("sky: it is not in PATH")
	pool := p.pool(t, "r", nil)
	if _, err := pool.Backend().Open(t.Context(), backend.Spec{Name: "a"}); !errors.Is(err, s.notReady) {
		t.Errorf("opening a session: %v", err)
	}
	if has := p.has(t); len(has) != 0 || len(s.names()) != 0 {
		t.Errorf("leases %+v, launched %q", has, s.names())
	}
	closed(t, pool)
}

// TestRetire ends the cluster of a dead run while another run would adopt it.
func TestRetire(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	pool := p.pool(t, "old", func(o *skypilot.Options) { o.Keep = time.Hour })
	open(t, pool, "a").Close(t.Context())
	closed(t, pool)
	p.abandon("old")
	kept := p.has(t)[0]
	retired, ok, err := p.leases.Retire(t.Context(), kept)
	if !ok || err != nil || !retired.Ending {
		t.Fatalf("retiring: %+v, %t", retired, ok)
	}
	if _, ok, err := p.leases.Retire(t.Context(), kept); ok || err != nil {
		t.Error("another ended it at the same time")
	}
	next := p.pool(t, "new", nil)
	open(t, next, "b").Close(t.Context())
	if names := s.names(); len(names) != 2 {
		t.Errorf("a cluster that is being ended was adopted: %q were launched", names)
	}
	closed(t, next)
	again, ok, _ := p.leases.Retire(t.Context(), retired)
	o := skypilot.Options{Provider: s, Leases: p.leases}
	if err := o.End(t.Context(), again); !ok || err != nil || s.up() != 0 || len(p.has(t)) != 0 {
		t.Errorf("ending it after another began to and died: %t, %v, leases %+v", ok, err, p.has(t))
	}
	if _, ok, err := p.leases.Retire(t.Context(), retired); ok || err != nil {
		t.Error("what is gone was retired")
	}
}

// TestEndedLater: a cluster that cannot be ended during a run is ended at its end.
func TestEndedLater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	failed := make(chan struct{})
	s.onEnd = func(string) error {
		select {
		case <-failed:
			return nil
		default:
			close(failed)
			return errors.New("the API server is down")
		}
	}
	pool := p.pool(t, "r", func(o *skypilot.Options) { o.Idle = time.Second })
	open(t, pool, "a").Close(t.Context())
	<-failed
	open(t, pool, "b").Close(t.Context()) // on another cluster
	closed(t, pool)
	if s.up() != 0 || len(p.has(t)) != 0 {
		t.Errorf("%d machines are left, leases %+v", s.up(), p.has(t))
	}
}

// TestForgedLease: a lease that came with the project names a cluster.
func TestForgedLease(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	pool := p.pool(t, "old", func(o *skypilot.Options) { o.Keep = time.Hour })
	open(t, pool, "a").Close(t.Context())
	closed(t, pool)
	kept := p.has(t)
	if len(kept) != 1 || kept[0].Kept.Before(time.Now()) || s.up() != 1 {
		t.Fatalf("kept: %+v", kept)
	}
	p.abandon("old")
	for _, test := range []struct {
		name  string
		wrong func(text string) string
		key   string
	}{
		{"no proof", func(text string) string { return strings.Replace(text, kept[0].Proof, "", 1) }, "secret"},
		{"wrong proof", func(text string) string { return strings.Replace(text, kept[0].Proof, strings.Repeat("0", 64), 1) }, "secret"},
		{"changed", func(text string) string { return strings.Replace(text, `"run": "old"`, `"run": "new"`, 1) }, "secret"},
		{"another user's", func(text string) string { return text }, "other"},
		{"without a key", func(text string) string { return strings.Replace(text, kept[0].Proof, "", 1) }, ""},
	} {
		file := filepath.Join(p.leases.Dir, kept[0].Cluster+".json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(test.wrong(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		foreign := skypilot.Leases{Dir: p.leases.Dir, Key: backend.SessionKey(test.key)}
		if all, err := foreign.All(); err != nil || len(all) != 0 {
			t.Errorf("%s: %+v, %v", test.name, all, err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.has(t)) != 1 {
		t.Error("the lease itself does not count")
	}
}

// TestAdopt: a run finds the clusters of a killed one, and its work.
func TestAdopt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	goOn := make(chan struct{})
	started := make(chan string, 4)
	s.program = func(_ context.Context, c *fake.Call) (backend.Exit, error) {
		started <- c.Spec.Name
		<-goOn
		return backend.Exit{Code: 6}, nil
	}
	p := newProject(t, s)
	names := []string{"a", "b", "c", "d"}
	four := func(o *skypilot.Options) {
		o.MaxClusters, o.Slots = 4, 1
		o.Waiting = func() (int, float64) { return 100, 1e6 }
	}
	first := p.pool(t, "first", four)
	var taken sync.WaitGroup
	for _, name := range names {
		session := open(t, first, name)
		taken.Go(func() {
			if exit, _, err := run(t, session, "x"); err == nil {
				t.Errorf("the first run got %+v", exit)
			}
		})
		<-started
	}
	if len(s.names()) != len(names) {
		t.Fatalf("launched %v", s.names())
	}
	p.abandon("first")
	second := p.pool(t, "second", four)
	var done sync.WaitGroup
	for _, name := range names { // depends on which is adopted first
		session := open(t, second, name)
		done.Go(func() {
			defer session.Close(t.Context())
			if exit, _, err := run(t, session, "x"); err != nil || exit.Code != 6 {
				t.Errorf("got %+v, %v", exit, err)
			}
		})
	}
	taken.Wait()
	close(goOn)
	done.Wait()
	runs := 0
	for _, name := range s.names() {
		runs += s.machine(name).Execs()
	}
	if runs != len(names) || len(s.names()) != len(names) {
		t.Errorf("%d commands ran on %d clusters", runs, len(s.names()))
	}
	for _, l := range p.has(t) {
		if l.Run != "second" {
			t.Errorf("the lease of %s belongs to run %s", l.Cluster, l.Run)
		}
	}
	closed(t, second)
	if s.up() != 0 || len(p.has(t)) != 0 {
		t.Errorf("%d clusters are up, leases %+v", s.up(), p.has(t))
	}
}

// TestAdoptWithoutProvider adopts a cluster that serves, regardless of the provider.
func TestAdoptWithoutProvider(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	first := p.pool(t, "first", func(o *skypilot.Options) { o.Keep = time.Hour })
	open(t, first, "a").Close(t.Context())
	closed(t, first)
	p.abandon("first")
	s.away = errors.New("the API server is down")
	second := p.pool(t, "second", func(o *skypilot.Options) { o.Keep = time.Hour })
	open(t, second, "a").Close(t.Context())
	closed(t, second)
	if names := s.names(); len(names) != 1 {
		t.Errorf("launched %q", names)
	}
}

// TestNotAdopted leaves alone what is another's.
func TestNotAdopted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	first := p.pool(t, "first", nil)
	session := open(t, first, "a")
	second := p.pool(t, "second", nil) // the first one lives
	open(t, second, "a").Close(t.Context())
	third := p.pool(t, "third", func(o *skypilot.Options) { o.Machines = "cpu:64" })
	p.abandon("first")
	open(t, third, "a").Close(t.Context()) // it is of another kind
	if len(s.names()) != 3 {
		t.Errorf("launched %v", s.names())
	}
	if _, _, err := run(t, session, "x"); err != nil {
		t.Error(err)
	}
}

// TestKept: clusters wait for the next run.
func TestKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	keep := func(o *skypilot.Options) { o.Keep = time.Hour }
	pool := p.pool(t, "first", keep)
	open(t, pool, "a").Close(t.Context())
	closed(t, pool)
	p.abandon("first")
	pool = p.pool(t, "second", keep)
	open(t, pool, "a").Close(t.Context())
	if has := p.has(t); len(s.names()) != 1 || len(has) != 1 || !has[0].Kept.IsZero() || has[0].Run != "second" {
		t.Errorf("launched %v, leases %+v", s.names(), has)
	}
}
