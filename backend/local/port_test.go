//go:build unix

package local_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

func TestSharedPorts(t *testing.T) {
	t.Parallel()
	backendtest.TestPorts(t, opener(isolation.None, backend.SharedNetwork))
}

// listen takes a port of the machine that no other process has.
func listen(t *testing.T) (*net.TCPListener, int) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, l.Addr().(*net.TCPAddr).Port
}

// notes is output that can be read while it is written.
type notes struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(p)
}

func (n *notes) await(t *testing.T, text string) {
	t.Helper()
	await.Until(t, "the notes hold "+text, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return strings.Contains(n.b.String(), text)
	})
}

// A command that waits for a port reports it, can be cancelled, and is not charged.
func TestWaitForPort(t *testing.T) {
	o := local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}, Network: backend.SharedNetwork}
	l, port := listen(t)
	l.Close()
	owner, limited, cancelled := open(t, o, backend.Spec{}), open(t, o, backend.Spec{}), open(t, o, backend.Spec{})
	var group sync.WaitGroup
	group.Go(func() {
		_, err := owner.Exec(t.Context(), backend.Command{Ports: []int{port}, Argv: []string{"sh", "-c", "touch here; until [ -e go ]; do sleep 0.01; done"}})
		if err != nil {
			t.Error(err)
		}
	})
	awaitFile(t, filepath.Join(owner.Dir(), "here"))

	var said notes
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	group.Go(func() {
		exit, err := cancelled.Exec(ctx, backend.Command{Ports: []int{port}, Argv: []string{"true"}, Notes: &said})
		if !errors.Is(err, stop) {
			t.Errorf("cancelled: %+v, %v", exit, err)
		}
		if err := os.WriteFile(filepath.Join(owner.Dir(), "go"), nil, 0o644); err != nil {
			t.Error(err)
		}
	})
	var patient notes
	const limit = 2 * time.Second // enough for a program that does nothing, on a busy machine
	group.Go(func() {
		exit, err := limited.Exec(t.Context(), backend.Command{Ports: []int{port, port}, Argv: []string{"true"}, Timeout: limit, Notes: &patient})
		if err != nil || exit != (backend.Exit{Seconds: exit.Seconds}) || exit.Seconds > limit.Seconds() {
			t.Errorf("got %+v, %v", exit, err)
		}
	})
	said.await(t, "waiting for port")
	patient.await(t, "another session")
	time.Sleep(limit + limit/10) // that it waits longer than its limit is the point
	cancel(stop)
	group.Wait()
}

func awaitFile(t *testing.T, name string) {
	t.Helper()
	await.Until(t, name+" is there", func() bool {
		_, err := os.Stat(name)
		return err == nil
	})
}
