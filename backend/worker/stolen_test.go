//go:build unix

package worker_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// tapped serves a worker's server, and records the requests that it gets.
type tapped struct {
	*httptest.Server
	worker *worker.Server

	mu       sync.Mutex
	requests []request
}

type request struct {
	method, path string
	header       http.Header
	body         []byte
}

func (s *tapped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests = append(s.requests, request{r.Method, r.URL.RequestURI(), r.Header, body})
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.worker.ServeHTTP(w, r)
}

// tap serves a backend until the end of the test.
func tap(t *testing.T, b backend.Backend, token string) *tapped {
	t.Helper()
	s := &tapped{worker: worker.NewServer(worker.Host{Store: cache.NewMemory(), Backend: b, Spool: t.TempDir()}, worker.ServerOptions{Token: token})}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(func() {
		if err := s.worker.Close(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s
}

func (s *tapped) options(token string) worker.ClientOptions {
	return worker.ClientOptions{
		Access: worker.Access{Token: token, Certificate: sha256.Sum256(s.Certificate().Raw)},
		Dial: func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", s.Listener.Addr().String())
		},
	}
}

// stolen returns the requests so far.
func (s *tapped) stolen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[:len(s.requests):len(s.requests)]
}

// replay sends requests on other connections, and returns the statuses of the answers.
func (s *tapped) replay(t *testing.T, requests []request) (statuses []int) {
	t.Helper()
	for _, again := range requests {
		r, err := http.NewRequestWithContext(t.Context(), again.method, s.URL+again.path, bytes.NewReader(again.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = again.header
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatalf("%s %s: %v", again.method, again.path, err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		statuses = append(statuses, answer.StatusCode)
	}
	return statuses
}

// Requests that another program sends again, with their tokens, run no command, and open or end no session: during
// their session, after it, at another worker, and after another client took over.
func TestStolenRequests(t *testing.T) {
	t.Parallel()
	b := newSlowly()
	server := tap(t, b, "token")
	s := open(t, connect(t, cache.NewMemory(), server.options("token")), "a")
	quick := func(s backend.Session) {
		t.Helper()
		if exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"quick"}}); err != nil || exit.Code != 5 {
			t.Errorf("got %+v, %v", exit, err)
		}
	}
	counted := func(when string, opens, execs, closes int) {
		t.Helper()
		if b.Opens() != opens || b.Execs() != execs || b.Closes() != closes {
			t.Errorf("%s: %d sessions, %d commands, %d ends; want %d, %d, %d", when, b.Opens(), b.Execs(), b.Closes(), opens, execs, closes)
		}
	}
	quick(s)
	server.replay(t, server.stolen())
	counted("during the session", 1, 1, 0)
	quick(s)
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	stolen := server.stolen()
	server.replay(t, stolen)
	counted("after the session", 1, 2, 1)
	for i, status := range tap(t, fake.New(cache.NewMemory(), nil), "another token").replay(t, stolen) {
		if status != http.StatusUnauthorized {
			t.Errorf("another worker answers %s %s with %d", stolen[i].method, stolen[i].path, status)
		}
	}
	s = open(t, connect(t, cache.NewMemory(), server.options("token")), "a")
	for i, status := range server.replay(t, stolen) {
		if status != http.StatusConflict {
			t.Errorf("%s %s of a client that was replaced: %d", stolen[i].method, stolen[i].path, status)
		}
	}
	quick(s)
	counted("after another client took over", 2, 3, 1)
}
