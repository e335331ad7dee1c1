//go:build unix

package worker_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

func TestMain(m *testing.M) {
	os.Exit(backendtest.Main(m))
}

// serve starts a server on a loopback address that ends with the test.
func serve(t *testing.T, h worker.Host) (worker.ClientOptions, *worker.Server) {
	t.Helper()
	o, server, _ := serveFor(t, h, 0)
	return o, server
}

// serveFor is like serve, for a server that abandons its sessions after some time. end ends it, and returns
// when it has.
func serveFor(t *testing.T, h worker.Host, abandon time.Duration) (o worker.ClientOptions, _ *worker.Server, end func()) {
	t.Helper()
	access, certificate, err := worker.NewAccess()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.Spool = t.TempDir()
	server := worker.NewServer(h, worker.ServerOptions{Token: access.Token, Abandon: abandon})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener, certificate) }()
	end = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	t.Cleanup(end)
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", listener.Addr().String())
	}
	return worker.ClientOptions{Access: access, Dial: dial}, server, end
}

// connect returns a client that is closed at the end of the test.
func connect(t *testing.T, store cache.Store, o worker.ClientOptions) *worker.Client {
	t.Helper()
	c, err := worker.Connect(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestFromAfar runs the suites of package backendtest through a connection.
func TestFromAfar(t *testing.T) {
	t.Parallel()
	t.Run("backend", func(t *testing.T) {
		t.Parallel()
		open := func(t *testing.T) (backend.Backend, cache.Store) {
			there, here := cache.NewMemory(), cache.NewMemory()
			o := local.Options{Lifecycle: local.Lifecycle{Scratch: filepath.Join(t.TempDir(), "s")}, Probes: local.Probes{Path: backendtest.Path}}
			if !longtest.Asked() { // package local tests the levels; a connection is the same at each
				o.Isolation = string(isolation.None)
			}
			b := local.New(there, o)
			access, _ := serve(t, worker.Host{Store: there, Backend: b, Environments: t.TempDir()})
			return connect(t, here, access).Backend(), here
		}
		if longtest.Asked() {
			backendtest.TestBackend(t, open)
		} else { // the runner is that of package local, whose tests have the rest
			backendtest.TestFiles(t, open)
		}
	})
	t.Run("sandbox", func(t *testing.T) {
		t.Parallel()
		backendtest.TestSandboxFiles(t, func(t *testing.T) (backend.Sandbox, cache.Store) {
			there, here := cache.NewMemory(), cache.NewMemory()
			o, _ := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil), Sandbox: fake.NewSandbox(there, fake.Imitate)})
			return connect(t, here, o).Sandbox(), here
		})
	})
}
