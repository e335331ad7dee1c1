package docker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
)

// Commands in containers have the limits that local commands have, whatever the daemon's defaults.
func TestCommandLimits(t *testing.T) {
	b, _ := opener(daemon(t), docker.Options{Origin: docker.Origin{Image: pythonImage}})(t)
	s := open(t, b, backend.Spec{})
	if got := output(t, s, sh("ulimit -S -n; ulimit -H -n; ulimit -c; ulimit -S -s; grep -o 'Max processes *[0-9]* *[0-9]*' /proc/self/limits | tr -s ' '; ulimit -l; umask; df -k /dev/shm | tail -n 1 | tr -s ' ' | cut -d' ' -f2")); got != "1024\n16384\n0\n8192\nMax processes 65536 65536\n8192\n0022\n65536" {
		t.Errorf("limits are %q", got)
	}
	// A program cannot raise them.
	if got := output(t, s, sh("ulimit -n 16385 2>/dev/null || echo refused")); got != "refused" {
		t.Errorf("raising the limit on open files: %q", got)
	}
}

// Limits that a daemon gives to no container are in its identity. If they change, sessions fail once, and then
// another identity applies.
func TestLowLimits(t *testing.T) {
	daemon(t)
	o := docker.Options{Origin: docker.Origin{Image: pythonImage}, Probes: docker.Probes{Facts: filepath.Join(t.TempDir(), "images")}}
	with := func(nofile int64) backend.Backend {
		t.Helper()
		b, _ := opener(limitingDaemon(t, nofile), o)(t)
		return b
	}
	identity := func(b backend.Backend) string {
		t.Helper()
		fields, err := b.Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(fields, func(f backend.Field) bool { return strings.HasPrefix(f.Label, "limit on ") })
		if at < 0 {
			return ""
		}
		return fields[at].Label + " " + fields[at].Value
	}
	files := sh("ulimit -H -n")
	low := with(2048)
	if got := identity(low); got != "limit on open files 2048" {
		t.Errorf("the identity has %q", got)
	}
	if got := output(t, open(t, low, backend.Spec{}), files); got != "2048" {
		t.Errorf("commands have %q", got)
	}
	// The stored answer of the daemon before it was configured differently:
	high := with(20000)
	if got := identity(high); got != "limit on open files 2048" {
		t.Errorf("the stored identity has %q", got)
	}
	if _, err := open(t, high, backend.Spec{}).Exec(t.Context(), files); err == nil || !strings.Contains(err.Error(), backend.LimitsChanged) {
		t.Errorf("a session with other limits than its identity: %v", err)
	}
	high = with(20000)
	if got := identity(high); got != "" {
		t.Errorf("the new identity has %q", got)
	}
	if got := output(t, open(t, high, backend.Spec{}), files); got != "16384" {
		t.Errorf("commands have %q", got)
	}
}

// limitingDaemon returns the tests' daemon with another default limit on open files.
func limitingDaemon(t *testing.T, nofile int64) *docker.Daemon {
	t.Helper()
	_, socket, _ := strings.Cut(os.Getenv("DOCKER_HOST"), "unix://")
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "docker" },
		Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) }},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/containers/create") {
			var made map[string]any
			if err := json.NewDecoder(r.Body).Decode(&made); err != nil {
				t.Error(err)
			}
			made["HostConfig"].(map[string]any)["Ulimits"] = []any{map[string]any{"Name": "nofile", "Soft": nofile, "Hard": nofile}}
			body, err := json.Marshal(made)
			if err != nil {
				t.Error(err)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d, err := docker.Connect(docker.Endpoint{Host: "tcp://" + server.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}
