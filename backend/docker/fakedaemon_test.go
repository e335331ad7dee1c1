package docker

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/pkg/stdcopy"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// fakeDaemon implements the part of the API for a session whose program prints "out" and exits with 0. Tests can
// replace each response.
type fakeDaemon struct {
	*Daemon
	t      *testing.T
	server *httptest.Server

	mu    sync.Mutex
	calls []string
	on    map[string]http.HandlerFunc // "POST /containers/x/start"; the container is always x
	// otherwise handles requests that on and usual do not; nil means an empty response.
	otherwise func(call string) http.HandlerFunc
	container *fakeContainer // the last one
	dead      bool           // requests on open connections are cut off
}

// fakeContainer holds the streams of a fakeDaemon's container, and whether it has ended. Tests that start several call
// all of them x.
type fakeContainer struct {
	ended chan struct{} // closed by end
	once  sync.Once
	mu    sync.Mutex
	conns []net.Conn // hijacked
}

func newFakeContainer() *fakeContainer { return &fakeContainer{ended: make(chan struct{})} }

func (c *fakeContainer) end() {
	c.once.Do(func() { close(c.ended) })
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

func newFakeDaemon(t *testing.T) *fakeDaemon {
	t.Helper()
	f := &fakeDaemon{t: t, on: map[string]http.HandlerFunc{}, container: newFakeContainer()}
	socket := filepath.Join(t.TempDir(), "docker.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	f.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: f}}
	f.server.Start()
	t.Cleanup(f.stop)
	f.Daemon, err = Connect(Endpoint{Host: "unix://" + socket})
	if err != nil {
		t.Fatal(err)
	}
	// The default timeout is for events that never come; tests of them shorten it.
	f.wait = patience{call: time.Minute, stop: time.Minute, idle: time.Minute}
	return f
}

// stop simulates a daemon that dies: it closes connections before the end.
func (f *fakeDaemon) stop() {
	f.server.Listener.Close() // first, so that no client connects again
	f.mu.Lock()
	f.dead = true
	f.mu.Unlock()
	f.last().end()
	f.server.CloseClientConnections()
	f.server.Close()
}

// last returns the last container.
func (f *fakeDaemon) last() *fakeContainer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.container
}

// end ends the last container.
func (f *fakeDaemon) end() { f.last().end() }

func (f *fakeDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if strings.HasPrefix(path, "/v") {
		_, path, _ = strings.Cut(path[1:], "/")
		path = "/" + path
	}
	call := r.Method + " " + path
	f.mu.Lock()
	f.calls = append(f.calls, call)
	handler, dead := f.on[call], f.dead
	if call == "POST /containers/create" {
		f.container = newFakeContainer()
	}
	f.mu.Unlock()
	if dead {
		panic(http.ErrAbortHandler)
	}
	if handler == nil {
		handler = f.usual(call)
	}
	if handler == nil {
		f.t.Errorf("unexpected call: %s", call)
		handler = fails(http.StatusNotImplemented, "not here")
	}
	w.Header().Set("Api-Version", "1.41")
	handler(w, r)
}

// called returns the calls so far, without version requests.
func (f *fakeDaemon) called() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var calls []string
	for _, c := range f.calls {
		if !strings.HasSuffix(c, "/_ping") && c != "GET /info" {
			calls = append(calls, c)
		}
	}
	return strings.Join(calls, ", ")
}

func says200(value any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(value) }
}

func fails(code int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
	}
}

func noContent(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// hangs answers nothing until the caller gives up, which is noticed once the
// body is read.
func hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func (f *fakeDaemon) usual(call string) http.HandlerFunc {
	switch call {
	case "HEAD /_ping", "GET /_ping":
		return func(http.ResponseWriter, *http.Request) {}
	case "GET /info":
		return says200(map[string]any{})
	case "GET /images/img/json":
		return says200(map[string]any{"Id": "sha256:1", "Os": "linux", "Architecture": "amd64"})
	case "POST /containers/create":
		return says200(map[string]any{"Id": "x"})
	case "POST /containers/x/attach":
		return f.runs(prints("out\n"))
	case "POST /containers/x/wait":
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			select {
			case <-f.last().ended:
				f.mu.Lock()
				dead := f.dead
				f.mu.Unlock()
				if dead {
					panic(http.ErrAbortHandler)
				}
				fmt.Fprint(w, `{"StatusCode":0}`)
			case <-r.Context().Done():
			}
		}
	case "PUT /containers/x/archive":
		return func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
	case "POST /containers/x/start":
		return noContent
	case "POST /containers/x/kill":
		return func(w http.ResponseWriter, r *http.Request) {
			f.end()
			noContent(w, r)
		}
	case "GET /containers/x/json":
		return says200(map[string]any{"State": map[string]any{"ExitCode": 0, "StartedAt": "2026-01-02T03:04:05Z", "FinishedAt": "2026-01-02T03:04:06Z"}})
	}
	if strings.HasPrefix(call, "DELETE /containers/fevalgraph-") {
		return noContent
	}
	if f.otherwise != nil {
		return f.otherwise(call)
	}
	return nil
}

// runs returns a handler whose runner serves a session of the container.
func (f *fakeDaemon) runs(exec execFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, container := f.hijack(w), f.last()
		go func() {
			_ = worker.ServeStream(context.Background(), conn, stdcopy.NewStdWriter(conn, stdcopy.Stdout), "/nowhere", func(context.Context, cache.Store, backend.Spec) (backend.Session, error) {
				return fakeSession{exec: exec}, nil
			})
			container.end() // which need not be the last one any more
		}()
	}
}

// dies returns a handler for a container that ends with a message of its first process.
func (f *fakeDaemon) dies(frames ...[]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn := f.hijack(w)
		for _, frame := range frames {
			_, _ = conn.Write(frame)
		}
		f.end()
	}
}

type execFunc func(ctx context.Context, c backend.Command) (backend.Exit, error)

// prints returns a program that prints a text.
func prints(text string) execFunc {
	return func(_ context.Context, c backend.Command) (backend.Exit, error) {
		_, err := io.WriteString(c.Output, text)
		return backend.Exit{}, err
	}
}

// fakeSession only runs commands.
type fakeSession struct {
	backend.Session
	exec execFunc
}

func (s fakeSession) Dir() string { return "/workspace" }
func (s fakeSession) Exec(ctx context.Context, c backend.Command) (backend.Exit, error) {
	return s.exec(ctx, c)
}

func (f *fakeDaemon) hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		f.t.Error(err)
		return nil
	}
	fmt.Fprint(conn, "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
	c := f.last()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
	return conn
}

// stream returns a frame in the daemon's format for two multiplexed outputs.
func stream(kind byte, text string) []byte {
	head := [8]byte{kind}
	binary.BigEndian.PutUint32(head[4:], uint32(len(text)))
	return append(head[:], text...)
}

// backend returns one on f that need not look into the image, and its
// registry's directory.
func (f *fakeDaemon) backend() (*Backend, string) {
	dir := f.t.TempDir()
	registry, err := backend.OpenRegistry(filepath.Join(dir, "sessions"), "run")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { registry.Close() })
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("program"), 0o755); err != nil {
		f.t.Fatal(err)
	}
	b := New(cache.NewMemory(), f.Daemon, Options{Origin: Origin{Image: "img"}, Program: program, Lifecycle: Lifecycle{Scratch: filepath.Join(dir, "scratch"), Registry: registry, Grace: 100 * time.Millisecond}})
	b.runnerChecked = true
	b.facts = &facts{uid: 1000, gid: 1000, version: noPython}
	return b, filepath.Join(dir, "sessions")
}
