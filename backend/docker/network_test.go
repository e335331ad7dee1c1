//go:build unix

package docker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
)

// networks lists the networks of a run.
func networks(t *testing.T, api *client.Client, run string) []network.Summary {
	t.Helper()
	found, err := api.NetworkList(t.Context(), network.ListOptions{Filters: filters.NewArgs(filters.Arg("label", docker.LabelRun+"="+run))})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// announce prints its address, and ends after the first call.
const announce = `import socket
s = socket.socket()
s.bind(("0.0.0.0", 7000)); s.listen()
print(socket.gethostbyname(socket.gethostname()), flush=True)
s.accept()`

// call reaches only neighbours: the packet's hop limit is one, so no router forwards it.
const call = `import socket, sys
s = socket.socket(); s.settimeout(5)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
try: s.connect((sys.argv[1], 7000))
except OSError: print("alone")
else: print("met")`

// meets reports whether one session on a backend can reach another one.
func meets(t *testing.T, b backend.Backend) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first, second := open(t, b, backend.Spec{Name: "first"}), open(t, b, backend.Spec{Name: "second"})
	said, done := make(chan string, 1), make(chan error, 1)
	python := func(arguments ...string) backend.Command {
		return backend.Command{Argv: append([]string{"python3", "-c"}, arguments...), Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
	}
	go func() {
		cmd := python(announce)
		cmd.Output = lines(said)
		_, err := first.Exec(ctx, cmd)
		done <- err
	}()
	var address string
	select {
	case address = <-said:
	case err := <-done:
		t.Fatalf("the first session does not listen: %v", err)
	}
	met := output(t, second, python(call, address))
	cancel()
	<-done
	return met
}

// lines hands on the first thing that is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- strings.TrimSpace(string(p)):
	default:
	}
	return len(p), nil
}

// By default, containers have no network. A bridge belongs to one session. Cells on a network of the daemon can
// connect, which shows that the test detects connections.
func TestNetworks(t *testing.T) {
	d, api := daemon(t), hands(t)
	none, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}})(t)
	if got := output(t, open(t, none, backend.Spec{}), sh("grep -c eth /proc/net/dev; true")); got != "0" {
		t.Errorf("by default there are %s networks", got)
	}
	bridge, _ := opener(d, docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Network: "bridge"}})(t)
	if got := meets(t, bridge); got != "alone" {
		t.Errorf("two sessions with separate networks: %s", got)
	}
	name := fmt.Sprintf("fevalgraph-test-%p", t)
	if _, err := api.NetworkCreate(t.Context(), name, network.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.NetworkRemove(context.Background(), name); err != nil {
			t.Error(err)
		}
	})
	t.Run("shared", func(t *testing.T) {
		shared, _ := opener(d, docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Network: name}})(t)
		if got := meets(t, shared); got != "met" {
			t.Errorf("two sessions on the same network: %s", got)
		}
	})
}

// A bridge serves one container at a time, which disconnects before it has commands without a network. The next
// container gets it, unless another client has removed it or connected a container to it. Close leaves no bridge.
func TestBridges(t *testing.T) {
	d, api := daemon(t), hands(t)
	for _, byCopy := range []bool{false, true} {
		b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Copy: byCopy})(t)
		have := func(want int, when string) []network.Summary {
			t.Helper()
			found := networks(t, api, t.Name())
			if len(found) != want {
				t.Fatalf("copied %v, %s: networks %+v", byCopy, when, found)
			}
			return found
		}
		online := sh("grep -c eth0 /proc/net/dev")
		online.Online = true
		first, second := open(t, b, backend.Spec{}), open(t, b, backend.Spec{})
		output(t, first, sh("true"))
		have(0, "without a command that is online")
		output(t, first, online)
		output(t, first, online)
		made := have(1, "with one")
		output(t, second, online)
		have(2, "with two")
		output(t, first, sh("! grep -q eth0 /proc/net/dev"))
		third := open(t, b, backend.Spec{})
		output(t, third, online)
		have(2, "with a network of a killed run")
		output(t, third, sh("true"))
		if err := api.NetworkRemove(t.Context(), made[0].ID); err != nil && !errdefs.IsNotFound(err) { // idle for long already
			t.Fatal(err)
		}
		if got := output(t, first, online); got != "1" {
			t.Errorf("after a removal, there are %s networks", got)
		}
		if again := have(2, "after a removal"); again[0].ID == made[0].ID || again[1].ID == made[0].ID {
			t.Error("it was not removed")
		}
		for _, s := range []backend.Session{first, second, third} {
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			if err := b.(*docker.Backend).Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		have(0, "when all is closed")
	}
}

// A container that is kept can be started when its network has gone.
func TestKeptWithoutNetwork(t *testing.T) {
	d, api := daemon(t), hands(t)
	b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "bridge"}})(t)
	s, err := b.Open(t.Context(), backend.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	output(t, s, sh("grep -q eth0 /proc/net/dev"))
	_, err = b.Capabilities().Keep(t.Context(), s)
	if err == nil {
		err = s.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := b.(*docker.Backend).Close(t.Context()); err != nil {
		t.Error(err)
	}
	startKept(t, d, api)
}

// startKept starts the one container of the test's run, and removes it.
func startKept(t *testing.T, d *docker.Daemon, api *client.Client) {
	t.Helper()
	left, err := d.Leftovers(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	started := 0
	for _, l := range left {
		if l.Run != t.Name() {
			continue
		}
		started++
		if err := api.ContainerStart(t.Context(), l.ID, container.StartOptions{}); err != nil {
			t.Errorf("starting what was kept: %v", err)
		}
		if err := d.Remove(t.Context(), l); err != nil {
			t.Error(err)
		}
	}
	if started != 1 {
		t.Errorf("%d of the run are left", started)
	}
}

// Objects with a project's labels are found and removed, including a network without a container.
func TestNetworkLeftover(t *testing.T) {
	d, api := daemon(t), hands(t)
	labels := map[string]string{docker.LabelProject: t.Name(), docker.LabelRun: "run"}
	if _, err := api.NetworkCreate(t.Context(), "fevalgraph-"+strings.ToLower(t.Name()), network.CreateOptions{Labels: labels}); err != nil {
		t.Fatal(err)
	}
	left, err := d.Leftovers(t.Context(), t.Name())
	if err != nil || len(left) != 1 || left[0].Kind != docker.LeftNetwork || left[0].Run != "run" {
		t.Fatalf("%+v, %v", left, err)
	}
	for range 2 { // gone is as good as removed
		if err := d.Remove(t.Context(), left[0]); err != nil {
			t.Error(err)
		}
	}
	if left, err := d.Leftovers(t.Context(), t.Name()); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}
