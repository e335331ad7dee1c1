package backendtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// TestPorts runs the part of the suite that is about commands with ports. The
// package's TestMain must call Main. For without, see TestEndings; "Endings" are all of them.
func TestPorts(t *testing.T, open func(t *testing.T) (backend.Backend, cache.Store), without ...string) {
	t.Run("Loopback", func(t *testing.T) { testLoopback(t, open) })
	t.Run("AtOnce", func(t *testing.T) { testAtOnce(t, open) })
	t.Run("LeftRunning", func(t *testing.T) { testLeftRunning(t, open) })
	t.Run("Stranger", func(t *testing.T) { testStranger(t, open) })
	if slices.Contains(without, "Endings") || !longtest.Asked() { // without ports they always run
		return
	}
	t.Run("Endings", func(t *testing.T) {
		testProcesses(t, func(t *testing.T) (backend.Backend, cache.Store) {
			b, store := open(t)
			return &ported{Backend: b, t: t}, store
		}, without...)
	})
}

// freePort finds a port that no process listens on and that the machine gives to
// none that does not ask for it. It does not try the port by listening: a
// process that is just being forked would hold it a moment longer.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 10000 + rand.IntN(20000)
		c, err := net.Dial("tcp", local(port))
		if err != nil {
			return port
		}
		c.Close()
	}
	t.Fatal("found no free port")
	return 0
}

// serving returns the part of a script that starts a server and waits for it.
func serving(address, word string) string {
	return fmt.Sprintf("./peer serve %[1]s %[2]s & until ./peer ask %[1]s >/dev/null; do sleep 0.05; done\n", address, word)
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func testLoopback(t *testing.T, open Opener) {
	b, store := open(t)
	s := session(t, b, withPeer(t, store))
	port := freePort(t)
	for _, host := range []string{"127.0.0.1", "::1", "0.0.0.0"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Logf("the machine has no %s: %v", host, err)
			continue
		}
		l.Close()
		address := "'" + net.JoinHostPort(host, strconv.Itoa(port)) + "'"
		if exit, out := exec(t, s, onPort(port, serving(address, "hello")+"./peer ask "+address)); exit.Code != 0 || !strings.HasSuffix(out, "hello\n") {
			t.Errorf("at %s: %+v, %q", host, exit, out)
		}
	}
}

// Each of several commands with the same port finds only itself there.
func testAtOnce(t *testing.T, open Opener) {
	b, store := open(t)
	peer, port := withPeer(t, store), freePort(t)
	var group sync.WaitGroup
	for i := range 3 {
		s, word := session(t, b, peer), fmt.Sprint("word", i)
		group.Go(func() {
			var out bytes.Buffer
			cmd := onPort(port, serving(local(port), word)+"for i in 1 2 3 4 5; do ./peer ask "+local(port)+"; done >> words")
			cmd.Output = &out
			exit, err := s.Exec(t.Context(), cmd)
			if err != nil || exit.Code != 0 || exit.TimedOut {
				t.Errorf("%s: %+v, %v\n%s", word, exit, err, out.String())
			}
			words, err := collect(t, s, "words")
			if want := strings.Repeat(word+"\n", 5); err != nil || words != want {
				t.Errorf("%s heard %q, %v", word, words, err)
			}
		})
	}
	group.Wait()
}

// A server that a command left has ended with it, and its port is free.
func testLeftRunning(t *testing.T, open Opener) {
	b, store := open(t)
	peer, port := withPeer(t, store), freePort(t)
	first, second := session(t, b, peer), session(t, b, peer)
	daemon := fmt.Sprintf(`(setsid sh -c 'trap "" TERM HUP; echo $$ >> pids; exec ./peer serve %[1]s old' >/dev/null 2>&1 &)
		until ./peer ask %[1]s; do sleep 0.05; done; echo over`, local(port))
	if exit, out := exec(t, first, onPort(port, daemon)); exit.Code != 0 || !strings.HasSuffix(out, "old\nover\n") {
		t.Fatalf("got %+v, %q", exit, out)
	}
	checkEnded(t, first, 1)
	for _, s := range []backend.Session{first, second} {
		if exit, out := exec(t, s, onPort(port, serving(local(port), "new")+"./peer ask "+local(port))); exit.Code != 0 || !strings.HasSuffix(out, "new\n") {
			t.Errorf("got %+v, %q", exit, out)
		}
	}
}

// A program of the machine that has the port is out of reach in a private
// network. In a shared one the command breaks, for its verdict would be about
// the stranger.
func testStranger(t *testing.T, open Opener) {
	b, store := open(t)
	s := session(t, b, withPeer(t, store))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { _ = greet(l, "stranger") }()
	port := l.Addr().(*net.TCPAddr).Port
	cmd := onPort(port, "./peer ask "+local(port)+" || "+serving(local(port), "mine")+"./peer ask "+local(port))
	switch b.Network() {
	case backend.PrivateNetwork:
		if exit, out := exec(t, s, cmd); exit.Code != 0 || strings.Contains(out, "stranger") || !strings.HasSuffix(out, "mine\n") {
			t.Errorf("got %+v, %q", exit, out)
		}
	case backend.SharedNetwork:
		if exit, err := s.Exec(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d ", port)) {
			t.Errorf("got %+v, %v; want an error that names port %d", exit, err, port)
		}
		l.Close()
		if exit, out := exec(t, s, cmd); exit.Code != 0 || !strings.HasSuffix(out, "mine\n") {
			t.Errorf("once it has gone: %+v, %q", exit, out)
		}
	default:
		t.Errorf("the network is %q", b.Network())
	}
}

// ported gives every command of a session the same port.
type ported struct {
	backend.Backend
	t *testing.T
}

func (p *ported) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	s, err := p.Backend.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &portedSession{Session: s, port: freePort(p.t)}, nil
}

type portedSession struct {
	backend.Session
	port int
}

func (s *portedSession) Exec(ctx context.Context, cmd backend.Command) (backend.Exit, error) {
	cmd.Ports = []int{s.port}
	return s.Session.Exec(ctx, cmd)
}
