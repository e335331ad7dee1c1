//go:build unix

package docker_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/lang"
)

// serve is a service that responds once it is ready, and ask a program that queries it and tries to connect to other
// hosts.
const serve = `import http.server, os, time
time.sleep(0.5)
open("/tmp/ready", "w").close()
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(os.environ["ANSWER"].encode())
http.server.HTTPServer(("", 80), H).serve_forever()`

const ask = `import socket, sys, urllib.request
print(urllib.request.urlopen("http://judge/").read().decode())
def reaches(host, port):
    try: socket.create_connection((host, port), timeout=3).close()
    except OSError: return "no"
    return "yes"
own = socket.gethostbyname(socket.gethostname())
print("machine", reaches(own.rsplit(".", 1)[0] + ".1", int(sys.argv[1])), reaches(sys.argv[2], int(sys.argv[1])))
try: socket.gethostbyname("example.org"); print("name")
except OSError: print("no name")`

// Services run next to a session's container, alone on a network with it, and end with the session.
func TestServices(t *testing.T) {
	d, api := daemon(t), hands(t)
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	machine := "127.0.0.1"
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			machine = ip.IP.String()
		}
	}
	service := lang.Service{Name: "judge", Image: pythonImage, Entrypoint: []string{"python3", "-c", serve}, Env: []lang.EnvVar{{Name: "ANSWER", Value: "42"}},
		Ready: []string{"test", "-f", "/tmp/ready"}, ReadyTimeout: time.Minute}
	running := func() int {
		found, err := api.ContainerList(t.Context(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", docker.LabelRun+"="+t.Name()))})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Services: []lang.Service{service}}})(t)
	s := open(t, b, backend.Spec{Name: "tests"})
	asked := backend.Command{Argv: []string{"python3", "-c", ask, port, machine}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
	if got := output(t, s, asked); got != "42\nmachine no no\nno name" {
		t.Errorf("with a service: %q", got)
	}
	if got := output(t, s, asked); got != "42\nmachine no no\nno name" {
		t.Errorf("in another command: %q", got)
	}
	alone := backend.Command{Argv: []string{"python3", "-c", ask, port, machine}, Env: asked.Env, Offline: true}
	if exit, err := s.Exec(t.Context(), alone); err != nil || exit.Code == 0 {
		t.Errorf("an offline command reaches the service: %+v, %v", exit, err)
	}
	if n := running(); n != 2 {
		t.Errorf("%d containers of the session", n)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n, left := running(), networks(t, api, t.Name()); n != 0 || len(left) > 0 {
		t.Errorf("left are %d containers and %v", n, left)
	}

	// Its content and settings are in keys.
	identity := func(change func(*lang.Service)) string {
		other := service
		change(&other)
		b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Services: []lang.Service{other}}})(t)
		fields, err := b.Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range fields {
			all = append(all, f.Label+" "+f.Value)
		}
		return strings.Join(all, "\n")
	}
	first := identity(func(*lang.Service) {})
	for _, change := range []func(*lang.Service){
		func(s *lang.Service) { s.Image = baseImage }, func(s *lang.Service) { s.Command = []string{"x"} }, func(s *lang.Service) { s.Env = nil }, func(s *lang.Service) { s.Name = "db" },
	} {
		if identity(change) == first {
			t.Error("a change of a service is in no key")
		}
	}
}

// outside connects to a server of the machine, directly and through the proxy.
const outside = `import os, socket, sys, urllib.request
def fetch(url, proxies):
    try: return urllib.request.build_opener(urllib.request.ProxyHandler(proxies)).open(url, timeout=5).read().decode()
    except OSError as e: return getattr(e, "code", "no")
url = "http://%s:%s/" % (sys.argv[2], sys.argv[1])
print(fetch(url, None), fetch(url, {}), fetch("http://example.invalid/", None), fetch("http://judge/", None))`

// With a list of hosts, a proxy is the only route to other networks.
func TestAllowlist(t *testing.T) {
	d, api := daemon(t), hands(t)
	bridge, err := api.NetworkInspect(t.Context(), "bridge", network.InspectOptions{})
	if err != nil || len(bridge.IPAM.Config) == 0 {
		t.Fatal(bridge, err)
	}
	machine := bridge.IPAM.Config[0].Gateway
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	service := lang.Service{Name: "judge", Image: pythonImage, Entrypoint: []string{"python3", "-c", serve}, Env: []lang.EnvVar{{Name: "ANSWER", Value: "42"}},
		Ready: []string{"test", "-f", "/tmp/ready"}, ReadyTimeout: time.Minute}
	for _, c := range []struct {
		hosts []string
		want  string
	}{
		{[]string{"192.0.2.1", "172.16.0.0/12", machine}, "hello no 403 42"},
		{[]string{"*.example.org"}, "403 no 403 42"},
	} {
		b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Hosts: c.hosts, Services: []lang.Service{service}}})(t)
		s := open(t, b, backend.Spec{Name: "tests"})
		asked := backend.Command{Argv: []string{"python3", "-c", outside, port, machine}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
		if got := output(t, s, asked); got != c.want {
			t.Errorf("%v: %q, want %q", c.hosts, got, c.want)
		}
		if err := errors.Join(s.Close(t.Context()), b.(*docker.Backend).Close(t.Context())); err != nil {
			t.Error(err)
		}
		if left := networks(t, api, t.Name()); len(left) > 0 {
			t.Errorf("left is %v", left)
		}
	}
}

// A service that does not start is the machine's fault, with its own words, and leaves nothing.
func TestServicesFail(t *testing.T) {
	d, api := daemon(t), hands(t)
	for name, c := range map[string]struct {
		service lang.Service
		want    string
	}{
		"ends":      {lang.Service{Image: baseImage, Entrypoint: []string{"/bin/sh", "-c", "echo no license; exit 3"}, ReadyTimeout: time.Minute, Ready: []string{"false"}}, "it ended before the command began: no license"},
		"not ready": {lang.Service{Image: baseImage, Entrypoint: []string{"/bin/sleep", "600"}, Ready: []string{"false"}, ReadyTimeout: 3 * time.Second}, "it was not ready within 3s"},
		"no image":  {lang.Service{Image: "fevalgraph-test/absent:latest"}, "the daemon has no such image"},
	} {
		t.Run(name, func(t *testing.T) {
			c.service.Name = "judge"
			b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage, Pull: docker.PullNever}, Reach: docker.Reach{Services: []lang.Service{c.service}}})(t)
			s := open(t, b, backend.Spec{Name: "tests"})
			if _, err := s.Exec(t.Context(), sh("true")); err == nil || !strings.Contains(err.Error(), "service judge: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if left := networks(t, api, t.Name()); len(left) > 0 {
				t.Errorf("left is %v", left)
			}
		})
	}
}
