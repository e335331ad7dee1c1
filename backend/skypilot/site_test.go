//go:build unix

package skypilot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/skypilot"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/backend/worker/workerhost"
	"github.com/fevalgraph/fevalgraph/cache"
)

// site is a provider whose clusters are workers of this process. The scripts that
// clusters are reached with are run, in a home directory that all of them see.
type site struct {
	t          *testing.T
	home, path string

	identity func(cluster string) string                     // of new clusters
	program  fake.Program                                    // behaviour of commands
	prepare  func(cluster, name string)                      // sees each Prepare
	onLaunch func(ctx context.Context, cluster string) error // before there is anything
	onEnd    func(cluster string) error
	notReady error // of the provider
	away     error // the provider, as long as it reports states

	mu       sync.Mutex
	machines map[string]*machine
	launched []string
	ended    []string
	most     int // machines at once
	notices  []string
}

// machine is a cluster.
type machine struct {
	*fake.Backend
	site    *site
	cluster string
	stop    func()
	conns   []net.Conn
}

// Prepare implements backend.Backend.
func (m *machine) Prepare(ctx context.Context, name string, cmd backend.Command) (string, backend.Exit, error) {
	if m.site.prepare != nil {
		m.site.prepare(m.cluster, name)
	}
	return m.Backend.Prepare(ctx, name, cmd)
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, home: t.TempDir(), path: t.TempDir(), machines: map[string]*machine{}}
	// Scripts query the user's home directory.
	script := fmt.Sprintf("#!/bin/sh\necho 'u:x:1:1:u:%s:/bin/sh'\n", s.home)
	if err := os.WriteFile(filepath.Join(s.path, "getent"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, m := range s.machines {
			m.stop()
		}
	})
	return s
}

func (s *site) Ready(context.Context) error { return s.notReady }

func (s *site) Launch(ctx context.Context, cluster string, _ skypilot.Task) error {
	s.mu.Lock()
	s.launched = append(s.launched, cluster)
	s.mu.Unlock()
	if s.onLaunch != nil {
		if err := s.onLaunch(ctx, cluster); err != nil {
			return err
		}
	}
	access, certificate, err := worker.NewAccess()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	store := cache.NewMemory()
	m := &machine{Backend: fake.New(store, s.program), site: s, cluster: cluster}
	if s.identity != nil {
		m.Ident = backend.Identity{{Label: "kernel", Value: "5"}, {Label: "cpu", Value: s.identity(cluster)}}
	}
	server := worker.NewServer(worker.Host{Store: store, Backend: m, Sandbox: fake.NewSandbox(store, nil), Spool: s.t.TempDir()}, worker.ServerOptions{Token: access.Token})
	serving, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(serving, listener, certificate)
	}()
	m.stop = func() {
		stop()
		<-ended
	}
	text, err := json.Marshal(workerhost.Address{Access: access, Address: listener.Addr().String(), Protocol: worker.Protocol})
	if err != nil {
		return err
	}
	dir := filepath.Join(s.home, ".fevalgraph", cluster)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, workerhost.AddressFile), text, 0o600)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machines[cluster] = m
	s.most = max(s.most, len(s.machines))
	return nil
}

func (s *site) State(_ context.Context, cluster string) (skypilot.State, error) {
	if s.away != nil {
		return "", s.away
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.machines[cluster] == nil {
		return skypilot.Gone, nil
	}
	return skypilot.Up, nil
}

func (s *site) Failed(context.Context, string) error { return nil }

func (s *site) End(_ context.Context, cluster string) error {
	s.mu.Lock()
	s.ended = append(s.ended, cluster)
	s.mu.Unlock()
	if s.onEnd != nil {
		if err := s.onEnd(cluster); err != nil {
			return err
		}
	}
	s.kill(cluster)
	return nil
}

// kill takes the machines of a cluster away.
func (s *site) kill(cluster string) {
	s.mu.Lock()
	m := s.machines[cluster]
	delete(s.machines, cluster)
	if m != nil {
		for _, c := range m.conns {
			c.Close()
		}
	}
	s.mu.Unlock()
	if m != nil {
		m.stop()
	}
}

func (s *site) Run(ctx context.Context, _, script string, in io.Reader) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	cmd.Env = []string{"PATH=" + s.path + ":/usr/bin:/bin", "HOME=/nonexistent"}
	cmd.Stdin = in
	return cmd.Output()
}

func (s *site) Dial(ctx context.Context, cluster, address string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.machines[cluster]
	if m == nil {
		return nil, errors.New("no such cluster")
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err == nil {
		m.conns = append(m.conns, c)
	}
	return c, err
}

// names returns the clusters that were launched so far.
func (s *site) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.launched)
}

// up returns the number of running clusters.
func (s *site) up() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.machines)
}

func (s *site) machine(cluster string) *machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machines[cluster]
}

// project holds the state that pools of one project share.
type project struct {
	*site
	state  string
	leases skypilot.Leases
	dead   map[string]bool // runs
}

func newProject(t *testing.T, s *site) *project {
	state := t.TempDir()
	return &project{site: s, state: state, leases: skypilot.Leases{Dir: filepath.Join(state, "clusters"), Key: backend.SessionKey("secret")}, dead: map[string]bool{}}
}

// pool returns a pool of a run, closed at the end of the test.
func (p *project) pool(t *testing.T, run string, change func(*skypilot.Options)) *skypilot.Pool {
	t.Helper()
	program := filepath.Join(p.state, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := skypilot.Options{
		Provider: p.site,
		Remote:   p.site,
		Store:    cache.NewMemory(),
		Leases:   p.leases,
		Living:   func(run string) (bool, error) { return !p.dead[run], nil },
		Source:   facts.Source{Facts: filepath.Join(p.state, "facts.json")},
		Limits:   skypilot.Limits{Hourly: func() *float64 { return nil }, Slots: 2, MaxClusters: 1, Deadline: time.Minute},
		Notice: func(text string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.notices = append(p.notices, text)
		},
		Labels: skypilot.Labels{Name: "sky", Project: "abcdef", Run: run, API: "http://api", Machines: "cpu:1"},
		Host:   skypilot.Host{Program: program},
	}
	if change != nil {
		change(&o)
	}
	made, err := skypilot.NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Close() })
	return made
}

// abandon leaves a pool like a killed run: its clusters stay.
func (p *project) abandon(run string) { p.dead[run] = true }

// has returns the leases that there are.
func (p *project) has(t *testing.T) []skypilot.Lease {
	t.Helper()
	all, err := p.leases.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func open(t *testing.T, p *skypilot.Pool, name string) backend.Session {
	t.Helper()
	s, err := p.Backend().Open(t.Context(), backend.Spec{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closed(t *testing.T, what interface{ Close() error }) {
	t.Helper()
	if err := what.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func run(t *testing.T, s backend.Session, words ...string) (backend.Exit, string, error) {
	t.Helper()
	var out bytes.Buffer
	exit, err := s.Exec(t.Context(), backend.Command{Argv: words, Output: &out})
	return exit, out.String(), err
}
