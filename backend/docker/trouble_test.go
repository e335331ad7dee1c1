package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// execute opens a session, runs one command and closes it.
func execute(ctx context.Context, b *Backend, c backend.Command) (exit backend.Exit, out string, err error) {
	s, err := b.Open(ctx, backend.Spec{Name: "node"})
	if err != nil {
		return exit, "", err
	}
	var said bytes.Buffer
	c.Argv, c.Output = []string{"program"}, &said
	exit, err = s.Exec(ctx, c)
	return exit, said.String(), errors.Join(err, s.Close(ctx))
}

func TestCalls(t *testing.T) {
	f := newFakeDaemon(t)
	b, _ := f.backend()
	exit, out, err := execute(t.Context(), b, backend.Command{})
	if err != nil || exit.Code != 0 || out != "out\n" {
		t.Errorf("got %+v, %q, %v", exit, out, err)
	}
	want := "GET /images/img/json, POST /containers/create, POST /containers/x/attach, POST /containers/x/start, DELETE /containers/fevalgraph-"
	if got := f.called(); !strings.HasPrefix(got, want) || strings.Count(got, ",") != strings.Count(want, ",") {
		t.Errorf("called %s", got)
	}
}

// Each trouble of the daemon has a distinct message, breaks the command, and is never an exit.
func TestTrouble(t *testing.T) {
	dies := func(on map[string]http.HandlerFunc) map[string]http.HandlerFunc {
		on["POST /containers/x/attach"] = nil // of a container that dies; see below
		return on
	}
	for _, test := range []struct {
		name string
		on   map[string]http.HandlerFunc
		want string
	}{
		{"image is missing", map[string]http.HandlerFunc{
			"GET /images/img/json": fails(404, "No such image: img"), "POST /images/create": fails(404, "pull access denied for img"),
		}, "img: the image could not be pulled: "},
		{"pull fails on the way", map[string]http.HandlerFunc{
			"GET /images/img/json": fails(404, "No such image: img"), "POST /images/create": says200(map[string]string{"error": "no space left on device"}),
		}, "no space left on device"},
		{"image is removed", map[string]http.HandlerFunc{"POST /containers/create": fails(404, "No such image: sha256:1")}, "image img (sha256:1) is gone from the daemon"},
		{"create fails", map[string]http.HandlerFunc{"POST /containers/create": fails(500, "devicemapper: out of space")}, "creating a container: Error response from daemon: devicemapper: out of space"},
		{"create hangs", map[string]http.HandlerFunc{"POST /containers/create": hangs}, "does not answer"},
		{"attach fails", map[string]http.HandlerFunc{"POST /containers/x/attach": fails(500, "no")}, "attaching to the container: "},
		{"start fails", map[string]http.HandlerFunc{"POST /containers/x/start": fails(500, "OCI runtime create failed")}, "starting the container: Error response from daemon: OCI runtime create failed"},
		{"no GPU", map[string]http.HandlerFunc{"POST /containers/x/start": fails(500, `could not select device driver "" with capabilities: [[gpu]]`)}, "no such GPU here: "},
		{"wait returns invalid JSON", dies(map[string]http.HandlerFunc{"POST /containers/x/wait": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("proxy error")) }}), "waiting for the container: proxy error"},
		{"wait reports an error", dies(map[string]http.HandlerFunc{"POST /containers/x/wait": says200(map[string]any{"StatusCode": 0, "Error": map[string]string{"Message": "lost the shim"}})}), "waiting for the container: lost the shim"},
		{"inspect fails", dies(map[string]http.HandlerFunc{"GET /containers/x/json": fails(404, "No such container: x")}), "asking how the container ended: "},
		{"it runs on", dies(map[string]http.HandlerFunc{"GET /containers/x/json": says200(map[string]any{"State": map[string]any{"Running": true}})}), "the container runs although its first process has ended"},
		{"remove fails", map[string]http.HandlerFunc{}, "removing container fevalgraph-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeDaemon(t)
			b, _ := f.backend()
			f.on = test.on
			if handler, dies := f.on["POST /containers/x/attach"]; dies && handler == nil {
				f.on["POST /containers/x/attach"] = f.dies()
			}
			if test.name == "create hangs" {
				f.wait.call = 300 * time.Millisecond
			}
			if test.name == "remove fails" {
				f.on = nil
				f.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodDelete {
						fails(500, "device is busy")(w, r)
						return
					}
					f.ServeHTTP(w, r)
				})
			}
			exit, _, err := execute(t.Context(), b, backend.Command{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %+v, %v; want %q", exit, err, test.want)
			}
		})
	}
}

// Messages of the container before the program, or instead of it.
func TestContainerTrouble(t *testing.T) {
	state := func(code int, oom bool) http.HandlerFunc {
		return says200(map[string]any{"State": map[string]any{"ExitCode": code, "OOMKilled": oom}})
	}
	// killed is a container that ends while a program runs.
	killed := func(f *fakeDaemon) http.HandlerFunc {
		return f.runs(func(context.Context, backend.Command) (backend.Exit, error) {
			f.end()
			return backend.Exit{}, nil
		})
	}
	for _, test := range []struct {
		name   string
		attach func(f *fakeDaemon) http.HandlerFunc
		state  http.HandlerFunc
		want   string
	}{
		{"no runner", func(f *fakeDaemon) http.HandlerFunc { return f.dies(stream(2, "exec format error\n")) }, state(127, false),
			": exec format error"},
		{"program", func(f *fakeDaemon) http.HandlerFunc {
			return f.runs(func(context.Context, backend.Command) (backend.Exit, error) {
				return backend.Exit{}, &backend.ToolError{Tool: "program", Err: errors.New("program not found in PATH=/bin")}
			})
		}, state(0, false), "program: program not found"},
		{"killed from outside", killed, state(137, false), "something outside of the container ended it (status 137)"},
		{"garbage for frames", func(f *fakeDaemon) http.HandlerFunc { return f.dies([]byte("HTTP/1.1 500\r\n\r\n")) }, state(0, false), "the runner ended: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeDaemon(t)
			b, _ := f.backend()
			f.on["POST /containers/x/attach"] = test.attach(f)
			f.on["GET /containers/x/json"] = test.state
			exit, _, err := execute(t.Context(), b, backend.Command{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %+v, %v; want %q", exit, err, test.want)
			}
		})
	}
	f := newFakeDaemon(t)
	b, _ := f.backend()
	f.on["POST /containers/x/attach"] = killed(f)
	f.on["GET /containers/x/json"] = state(137, true)
	session, err := b.Open(t.Context(), backend.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(t.Context())
	exit, err := session.Exec(t.Context(), backend.Command{Argv: []string{"true"}})
	if err != nil || exit.Signal != "killed" || exit.OOM || session.Verify(t.Context()) == nil {
		t.Errorf("out of the host's memory: %+v, %v; verified %v", exit, err, session.Verify(t.Context()))
	}
}

// If the daemon dies while a program runs, the outcome is lost. The container stays in the registry until it can be
// removed.
func TestLostDaemon(t *testing.T) {
	f := newFakeDaemon(t)
	b, sessions := f.backend()
	f.on["POST /containers/x/attach"] = f.runs(func(context.Context, backend.Command) (backend.Exit, error) {
		f.stop()
		return backend.Exit{}, nil
	})
	s, err := b.Open(t.Context(), backend.Spec{Name: "node"})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"program"}, Timeout: time.Minute})
	if tool := (*backend.ToolError)(nil); !errors.As(err, &tool) || !strings.Contains(err.Error(), "lost the daemon") && !strings.Contains(err.Error(), "no daemon answers") {
		t.Errorf("got %+v, %v", exit, err)
	}
	if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"program"}}); err == nil {
		t.Error("the next command runs")
	}
	began := time.Now()
	for range 2 {
		if err := s.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "the daemon at unix://") && !strings.Contains(err.Error(), "no daemon answers at unix://") {
			t.Errorf("closing: %v", err)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("closing took %v", took)
	}
	b.opt.Registry.Close()
	if left, err := backend.Leftovers(sessions); err != nil || len(left) != 1 || left[0].Host != f.host || left[0].Kind != Kind {
		t.Errorf("listed: %+v, %v", left, err)
	}
}

// A daemon that hangs bounds everything.
func TestStuckDaemon(t *testing.T) {
	endless := func(f *fakeDaemon) http.HandlerFunc {
		return f.runs(func(context.Context, backend.Command) (backend.Exit, error) {
			<-t.Context().Done()
			return backend.Exit{}, nil
		})
	}
	for _, test := range []struct {
		name   string
		attach func(*fakeDaemon) http.HandlerFunc
		kill   http.HandlerFunc
		limit  time.Duration
	}{
		{"kill does nothing", endless, noContent, 50 * time.Millisecond},
		{"kill hangs", endless, hangs, 50 * time.Millisecond},
		{"no message", func(f *fakeDaemon) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { f.hijack(w) }
		}, hangs, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFakeDaemon(t)
			b, _ := f.backend()
			f.on["POST /containers/x/attach"], f.on["POST /containers/x/kill"] = test.attach(f), test.kill
			b.opt.Grace = time.Millisecond
			f.wait.call, f.wait.stop = time.Second, 300*time.Millisecond
			began := time.Now()
			if _, _, err := execute(t.Context(), b, backend.Command{Timeout: test.limit}); err == nil {
				t.Error("no error")
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	dir := t.TempDir()
	dead := filepath.Join(dir, "dead.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	web := newWeb(t)
	for _, test := range []struct{ name, host, want string }{
		{"absent", "unix://" + filepath.Join(dir, "absent.sock"), "docker: no daemon answers at unix://"},
		{"dead", "unix://" + dead, "docker: no daemon answers at unix://"},
		{"a file", "unix://" + file, "docker: no daemon answers at unix://"},
		{"no listener", "tcp://127.0.0.1:1", "docker: no daemon answers at tcp://127.0.0.1:1"},
		{"no such host", "tcp://no-such-host.invalid:2375", "docker: no daemon answers at tcp://no-such-host.invalid:2375"},
		{"something else", "tcp://" + web, "inspecting image img: "},
	} {
		d, err := Connect(Endpoint{Host: test.host})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		b := New(cache.NewMemory(), d, Options{Origin: Origin{Image: "img", Pull: PullNever}})
		_, err = b.Identity(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
		if _, err := d.Version(t.Context()); err == nil {
			t.Errorf("%s: it has a version", test.name)
		}
	}
	if _, err := Connect(Endpoint{Host: "nonsense"}); err == nil || !strings.Contains(err.Error(), `docker host "nonsense"`) {
		t.Errorf("invalid host: %v", err)
	}
}

// newWeb serves something other than a daemon.
func newWeb(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) })}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// A socket without permission differs from a daemon that is not running.
func TestNoPermission(t *testing.T) {
	api, err := client.NewClientWithOpts(client.WithHost("unix:///var/run/docker.sock"), client.WithAPIVersionNegotiation(),
		client.WithDialContext(func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
		}))
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{api: api, host: "unix:///var/run/docker.sock", wait: usualPatience}
	_, err = d.Version(t.Context())
	if tool := (*backend.ToolError)(nil); !errors.As(err, &tool) || !strings.Contains(err.Error(), "no permission to use the daemon at unix:///var/run/docker.sock") || !strings.Contains(tool.Hint, "group") {
		t.Errorf("got %v", err)
	}
}

// Cancelling does not count as trouble of the daemon.
func TestCancelledCalls(t *testing.T) {
	f := newFakeDaemon(t)
	b, _ := f.backend()
	f.on["GET /images/img/json"] = hangs
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := b.Open(ctx, backend.Spec{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A daemon without addresses for another network breaks the command with a hint and leaves no network, as do other
// errors and an error after the network was created.
func TestNetworkTrouble(t *testing.T) {
	for _, test := range []struct {
		name string
		on   map[string]http.HandlerFunc
		want string
		hint string
	}{
		{"no addresses", map[string]http.HandlerFunc{
			"POST /networks/create": fails(403, "could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network"),
		}, "docker: the daemon has no addresses left for another network: ", "docker network prune"},
		{"no addresses, later", map[string]http.HandlerFunc{
			"POST /networks/create": fails(400, "all predefined address pools have been fully subnetted"),
		}, "docker: the daemon has no addresses left for another network: ", "docker network prune"},
		{"refuses", map[string]http.HandlerFunc{"POST /networks/create": fails(500, "no bridge today")}, "making a network: Error response from daemon: no bridge today", ""},
		{"fails to look", map[string]http.HandlerFunc{"GET /networks/bridge": fails(500, "no list today")}, "looking at the daemon's networks: ", ""},
		{"no container", map[string]http.HandlerFunc{"POST /containers/create": fails(500, "no container today")}, "creating a container: ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeDaemon(t)
			b, sessions := f.backend()
			b.opt.Network = bridgeNetwork
			removed := false
			f.on["GET /networks/bridge"] = says200(map[string]any{"Options": map[string]string{mtuOption: "1400"}})
			f.on["POST /networks/create"] = func(w http.ResponseWriter, r *http.Request) {
				asked, err := io.ReadAll(r.Body)
				if err != nil || !strings.Contains(string(asked), `"com.docker.network.driver.mtu":"1400"`) {
					t.Errorf("the network is %s, %v", asked, err)
				}
				says200(map[string]any{"Id": "n"})(w, r)
			}
			f.otherwise = func(call string) http.HandlerFunc {
				if !strings.HasPrefix(call, "DELETE /networks/fevalgraph-") {
					return nil
				}
				removed = true
				return fails(404, "no such network")
			}
			maps.Copy(f.on, test.on)
			_, _, err := execute(t.Context(), b, backend.Command{})
			if err := b.Close(t.Context()); err != nil {
				t.Error(err)
			}
			var missing *backend.ToolError
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.hint) || errors.As(err, &missing) != (test.hint != "") {
				t.Errorf("got %v", err)
			}
			if asked := strings.Contains(f.called(), "POST /networks/create"); asked != removed {
				t.Errorf("created a network: %v, removed it: %v", asked, removed)
			}
			if err := b.opt.Registry.Close(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(sessions); err != nil || len(left) > 0 {
				t.Errorf("left in the registry: %v, %v", left, err)
			}
		})
	}
}

// Other runs need the addresses of networks without containers. Close removes networks that the daemon has not removed.
func TestIdleNetworks(t *testing.T) {
	f := newFakeDaemon(t)
	f.wait.idle = 10 * time.Millisecond
	b, _ := f.backend()
	f.on["GET /networks/bridge"] = says200(map[string]any{})
	f.on["POST /networks/create"] = says200(map[string]any{"Id": "n"})
	removed := make(chan string, 2)
	refused := ""
	f.otherwise = func(call string) http.HandlerFunc {
		name, found := strings.CutPrefix(call, "DELETE /networks/")
		if !found || name == refused {
			refused = ""
			removed <- "refused"
			return fails(500, "busy")
		}
		removed <- name
		return says200(map[string]any{})
	}
	for _, refuse := range []bool{false, true} {
		name, err := b.bridges.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := name
		if refuse {
			refused, want = name, "refused"
		}
		b.bridges.give(name)
		if got := <-removed; got != want {
			t.Errorf("removed %q, want %q", got, want)
		}
		if !refuse {
			continue
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := <-removed; got != name {
			t.Errorf("Close removed %q, want %q", got, name)
		}
	}
}

// Without addresses for another network, a container waits for a network that another container of the run
// leaves.
func TestNetworkAwaited(t *testing.T) {
	t.Parallel()
	f := newFakeDaemon(t)
	b, _ := f.backend()
	f.on["GET /networks/bridge"] = says200(map[string]any{})
	f.on["POST /networks/create"] = says200(map[string]any{"Id": "n"})
	f.otherwise = func(call string) http.HandlerFunc {
		if strings.HasPrefix(call, "GET /networks/fevalgraph-") {
			return says200(map[string]any{"Containers": map[string]any{}})
		}
		return fails(404, "no such network")
	}
	first, err := b.bridges.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	none := fails(400, "all predefined address pools have been fully subnetted")
	// The first bridge comes back while the daemon refuses the second.
	f.on["POST /networks/create"] = func(w http.ResponseWriter, r *http.Request) {
		b.bridges.give(first)
		none(w, r)
	}
	if second, err := b.bridges.acquire(t.Context()); err != nil || second != first {
		t.Errorf("the second container gets %q, %v, want %q", second, err, first)
	}
	f.on["POST /networks/create"] = none
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := b.bridges.acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a container that waits when the run ends gets %v", err)
	}
}

// A network that is written out has the key of the same one by default; every other
// one has another, also that which was the default before.
func TestNetworkInIdentity(t *testing.T) {
	of := func(network string) string {
		f := newFakeDaemon(t)
		b, _ := f.backend()
		b.opt = Options{Origin: Origin{Image: "img"}, Reach: Reach{Network: network}}.withDefaults()
		identity, err := b.Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(identity)
	}
	if of("") != of("none") || !strings.Contains(of(""), "{network none}") || !strings.Contains(of("bridge"), "{network bridge}") {
		t.Errorf("by default %s, with a bridge %s", of(""), of("bridge"))
	}
}
