package docker

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// A daemon continues to make a requested container after its client died. A reaper that came too early would
// leave it forever.
func TestReapLate(t *testing.T) {
	for _, try := range []struct {
		name   string
		opened time.Duration // ago
		looks  int           // the last attempt finds it; 0 means never
		on     bool          // a network, which appears at the fourth look
		want   string        // calls
	}{
		{"appears", time.Second, 3, false, "GET GET GET DELETE"},
		{"there", time.Second, 1, false, "GET DELETE"},
		{"opened long ago", time.Hour, 0, false, "DELETE"},
		{"a network", time.Second, 0, true, "GET network GET network GET network GET network DELETE network"},
		{"a network, made long ago", time.Hour, 0, true, "DELETE network"},
	} {
		t.Run(try.name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if strings.Contains(r.URL.Path, "/networks/fevalgraph-x") {
					calls = append(calls, r.Method+" network")
					if len(calls) < 4 {
						w.WriteHeader(http.StatusNotFound)
					}
					if _, err := w.Write([]byte("{}")); err != nil {
						t.Error(err)
					}
					return
				}
				if strings.HasSuffix(r.URL.Path, "/containers/json") {
					if _, err := w.Write([]byte("[]")); err != nil {
						t.Error(err)
					}
					return
				}
				if !strings.Contains(r.URL.Path, "/containers/fevalgraph-x") {
					w.Header().Set("Api-Version", "1.41")
					return
				}
				calls = append(calls, r.Method)
				if try.looks == 0 || len(calls) < try.looks {
					w.WriteHeader(http.StatusNotFound)
				}
				if _, err := w.Write([]byte("{}")); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			reap := Reaper(func(host string) (*Daemon, error) { return Connect(Endpoint{Host: host}) })
			e := backend.Entry{ID: "x", Host: strings.Replace(server.URL, "http:", "tcp:", 1), Opened: time.Now().Add(-try.opened), Network: try.on}
			if err := reap(context.Background(), e); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(calls, " "); got != try.want {
				t.Errorf("calls %s, want %s", got, try.want)
			}
		})
	}
}

// A daemon that ended while it removed a container completes that after it started again. Until then it refuses to
// disconnect the container from the network of the dead run.
func TestReapNetworkOfRemovedContainer(t *testing.T) {
	f := newFakeDaemon(t)
	const refused = "Container x is marked for removal and cannot be connected or disconnected to the network"
	removed := false
	f.on["GET /containers/json"] = says200([]map[string]any{{"Id": "x"}})
	f.on["POST /containers/x/kill"] = fails(http.StatusConflict, "container x is not running")
	f.on["POST /networks/fevalgraph-n/disconnect"] = fails(http.StatusForbidden, refused)
	f.on["DELETE /containers/x"] = func(w http.ResponseWriter, r *http.Request) {
		removed = true
		noContent(w, r)
	}
	f.on["DELETE /networks/fevalgraph-n"] = func(w http.ResponseWriter, r *http.Request) {
		if !removed {
			fails(http.StatusForbidden, "network fevalgraph-n has active endpoints")(w, r)
			return
		}
		noContent(w, r)
	}
	if err := f.reapNetwork(t.Context(), "fevalgraph-n"); err != nil {
		t.Error(err)
	}
}
