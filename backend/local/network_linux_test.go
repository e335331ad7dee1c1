package local_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// needPrivate skips where the machine allows no private networks. The suite
// has then tested what there is instead.
func needPrivate(t *testing.T) {
	t.Helper()
	if err := local.PrivateNetwork(); err != nil {
		t.Skipf("this machine allows no private networks, run as root: %v", err)
	}
}

func TestNetwork(t *testing.T) {
	want := backend.PrivateNetwork
	if local.PrivateNetwork() != nil {
		want = backend.SharedNetwork
	}
	if got := local.New(cache.NewMemory(), local.Options{}).Network(); got != want {
		t.Errorf("the network is %q, want %q", got, want)
	}
	for _, chosen := range []backend.Network{backend.PrivateNetwork, backend.SharedNetwork} {
		if got := local.New(cache.NewMemory(), local.Options{Network: chosen}).Network(); got != chosen {
			t.Errorf("the network is %q, want %q", got, chosen)
		}
	}
}

// Only commands with ports have a private network. Nothing else about them differs.
func TestPrivateNetwork(t *testing.T) {
	needPrivate(t)
	s := open(t, local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolation: "none"}}, backend.Spec{})
	look := func(ports ...int) string {
		var out strings.Builder
		exit, err := s.Exec(t.Context(), backend.Command{Ports: ports, Output: &out,
			Argv: []string{"sh", "-c", "for n in user mnt pid uts ipc cgroup; do readlink /proc/self/ns/$n; done; id; stat -c %u / .; umask; env; cat /proc/self/limits; readlink /proc/self/ns/net"}})
		if err != nil || exit.Code != 0 {
			t.Fatalf("got %+v, %v", exit, err)
		}
		return out.String()
	}
	machines, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	without, with, again := look(), look(8080), look(8080)
	facts, network, _ := strings.Cut(without, "net:[")
	if "net:["+strings.TrimSpace(network) != machines {
		t.Errorf("without ports the network is not the machine's, %s:\n%s", machines, without)
	}
	private, other, _ := strings.Cut(with, "net:[")
	if private != facts {
		t.Errorf("a command with ports sees\n%s\none without sees\n%s", private, facts)
	}
	if strings.Contains(with, machines) || other == network || strings.HasSuffix(again, other) {
		t.Errorf("the private networks are net:[%s and\n%s\nthe machine's is %s", other, again, machines)
	}
}

// A private network is isolated.
func TestPrivateNetworkHasNoRoutes(t *testing.T) {
	needPrivate(t)
	s := open(t, local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolation: "none"}}, backend.Spec{})
	var out strings.Builder
	exit, err := s.Exec(t.Context(), backend.Command{Ports: []int{8080}, Output: &out, Argv: []string{"cat", "/proc/net/route"}})
	if err != nil || exit.Code != 0 || !strings.HasPrefix(out.String(), "Iface") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("got %+v, %v; routes:\n%s", exit, err, out.String())
	}
}

// Threads that create private networks end afterwards, even after many concurrent ones.
func TestPrivateNetworkLeavesNoThread(t *testing.T) {
	needPrivate(t)
	o := local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolation: "none"}}
	var group sync.WaitGroup
	for range 8 {
		s := open(t, o, backend.Spec{})
		group.Go(func() {
			for range 5 {
				exit, err := s.Exec(context.WithoutCancel(t.Context()), backend.Command{Ports: []int{8080}, Argv: []string{"true"}})
				if err != nil || exit.Code != 0 {
					t.Errorf("got %+v, %v", exit, err)
				}
			}
		})
	}
	group.Wait()
	// A thread ends after its goroutine.
	await.Until(t, "no thread is on another network", func() bool { return len(strangeThreads(t)) == 0 })
}

// strangeThreads returns the threads of this process with another network than the machine's, which is also the
// main thread's.
func strangeThreads(t *testing.T) []string {
	t.Helper()
	main, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	threads, err := filepath.Glob("/proc/self/task/*/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	var strange []string
	for _, thread := range threads {
		if network, err := os.Readlink(thread); err == nil && network != main {
			strange = append(strange, thread)
		}
	}
	return strange
}
