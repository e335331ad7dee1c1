package page

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// source is a test source with the run in a state directory.
type source struct {
	state event.Records

	mu   sync.Mutex
	page *Page
	run  string
}

func (s *source) Page(_ context.Context, show func(*Page) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.page == nil {
		return event.ErrNoRuns
	}
	return show(s.page)
}

func (s *source) Latest() (*event.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == "" {
		return nil, nil
	}
	return event.OpenRun(s.state, s.run), nil
}

func (s *source) begin(t *testing.T, run string) *event.Recorder {
	t.Helper()
	r, err := event.NewRecorder(s.state, run)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = run
	return r
}

func serve(t *testing.T, s *source) *Server {
	t.Helper()
	server, err := NewServer(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return server
}

func get(t *testing.T, url string, change func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(content), answer.Header
}

func TestServe(t *testing.T) {
	s := serve(t, &source{page: sample(4)})
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") || len(s.token) < 20 {
		t.Error(s.URL())
	}
	code, document, header := get(t, s.URL(), nil)
	if code != http.StatusOK || !strings.Contains(document, "connect-src 'self'") || !strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d, %v", code, header)
	}
	var x index
	if err := json.Unmarshal(unpack(t, document)["index"], &x); err != nil || !x.Live {
		t.Fatalf("%+v, %v", x, err)
	}
	code, script, header := get(t, s.URL()+"data/"+x.Chunks[0].ID+".js", nil)
	if code != http.StatusOK || !strings.HasPrefix(script, `fevalgraph("`+x.Chunks[0].ID) || header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
		t.Errorf("%d, %v", code, header)
	}

	port := strings.Split(strings.TrimPrefix(s.URL(), "http://127.0.0.1"), "/")[0]
	head := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for what, try := range map[string]struct {
		path   string
		change func(*http.Request)
		code   int
	}{
		"another host":      {"", func(r *http.Request) { r.Host = "evil.example" + port }, http.StatusMisdirectedRequest},
		"another port":      {"", func(r *http.Request) { r.Host = "127.0.0.1:1" }, http.StatusMisdirectedRequest},
		"no port":           {"", func(r *http.Request) { r.Host = "localhost" }, http.StatusMisdirectedRequest},
		"localhost":         {"", func(r *http.Request) { r.Host = "localhost" + port }, http.StatusOK},
		"another origin":    {"", head("Origin", "http://evil.example"), http.StatusForbidden},
		"no origin to name": {"", head("Origin", "null"), http.StatusForbidden},
		"its own origin":    {"", head("Origin", "http://127.0.0.1"+port), http.StatusOK},
		"another site":      {"data/" + x.Chunks[0].ID + ".js", head("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"a link":            {"", head("Sec-Fetch-Site", "none"), http.StatusOK},
		"a post":            {"", func(r *http.Request) { r.Method = http.MethodPost }, http.StatusForbidden},
		"no data":           {"data/" + strings.Repeat("0", 64) + ".js", nil, http.StatusNotFound},
		"a file":            {"../../etc/passwd", nil, http.StatusNotFound},
	} {
		if code, _, _ := get(t, s.URL()+try.path, try.change); code != try.code {
			t.Errorf("%s: %d, want %d", what, code, try.code)
		}
	}
	for _, url := range []string{"http://127.0.0.1" + port + "/", strings.TrimSuffix(s.URL(), "/") + "x/", strings.ToLower(s.URL()), "http://127.0.0.1" + port + "/data/" + x.Chunks[0].ID + ".js"} {
		if code, _, _ := get(t, url, nil); code != http.StatusNotFound {
			t.Errorf("%s without the token: %d", url, code)
		}
	}
	if code, document, _ := get(t, serve(t, &source{}).URL(), nil); code != http.StatusOK || len(unpack(t, document)) != 1 {
		t.Errorf("before the first run: %d", code)
	}
}

// follow reads a server's events of the current run.
func follow(t *testing.T, s *Server) func(until func(*live) bool) *live {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.URL()+"live", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	answer, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	return func(until func(*live) bool) *live {
		t.Helper()
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			l := new(live)
			if err := json.Unmarshal([]byte(data), l); err != nil {
				t.Fatal(err)
			}
			if until(l) {
				return l
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return nil
	}
}

func TestFollow(t *testing.T) {
	src := &source{state: event.Records{Dir: t.TempDir()}}
	first := src.begin(t, "run1")
	s := serve(t, src)
	next := follow(t, s)
	first.Emit(event.RunStart{Type: "run.start", Run: "run1", Nodes: 3, Time: time.Now()})
	first.Emit(event.NodeQueued{Type: "node.queued", Addr: "a"})
	first.Emit(event.NodeQueued{Type: "node.queued", Addr: "b"})
	first.Emit(event.NodeStart{Type: "node.start", Addr: "a", Time: time.Now()})
	if l := next(func(l *live) bool { return l.Busy == 1 }); l.Nodes != 3 || l.Running[0].Addr != "a" || l.Queued != 1 || l.Ended {
		t.Errorf("%+v", l)
	}
	first.Emit(event.NodeDone{Type: "node.done", Addr: "a", State: event.Done})
	first.Emit(event.Verdict{Type: "verdict", Addr: "a", Outcome: "failed", Detail: "core 0/1"})
	first.Emit(event.NodeDone{Type: "node.done", Addr: "b", State: event.Broken, Message: "no disk"})
	first.Emit(event.NodesSame{Type: "nodes.same", Nodes: 1})
	first.Emit(event.RunEnd{Type: "run.end", Run: "run1"})
	l := next(func(l *live) bool { return l.Ended })
	if l.Busy != 0 || l.Queued != 0 || l.States["done"] != 1 || l.States["broken"] != 1 || l.States["cached"] != 1 || l.Counts["failed"] != 1 {
		t.Errorf("%+v", l)
	}
	if len(l.Lately) != 2 || l.Lately[0].Said != "no disk" || l.Lately[1].Outcome != "failed" {
		t.Errorf("%+v", l.Lately)
	}
	src.begin(t, "run2").Emit(event.RunStart{Type: "run.start", Run: "run2", Nodes: 7})
	if l := next(func(l *live) bool { return l.Run == "run2" && l.Nodes > 0 }); l.Nodes != 7 || len(l.Lately) != 0 {
		t.Errorf("%+v", l)
	}
}

// A node that runs again counts once, and broken attempts are no longer running.
func TestLive(t *testing.T) {
	l := newLive("run1")
	for _, e := range []event.Event{
		event.NodeStart{Addr: "a"}, event.NodeRetry{Addr: "a", Reason: "gone"}, event.NodeStart{Addr: "a"}, event.NodeDone{Addr: "a", State: event.Done},
		event.NodeReopened{Addr: "a", State: event.Done}, event.NodeStart{Addr: "b"}, event.NodeStart{Addr: "a"},
	} {
		l.add(e)
	}
	if s := l.snapshot(); s.Busy != 2 || s.Running[0].Addr != "b" || s.States["done"] != 0 || len(s.Lately) != 1 {
		t.Errorf("%+v", s)
	}
	l.add(event.NodeDone{Addr: "b", State: event.Cached})
	l.add(event.NodeDone{Addr: "a", State: event.Done})
	if s := l.snapshot(); s.Busy != 0 || s.States["done"] != 1 || s.States["cached"] != 1 {
		t.Errorf("%+v", s)
	}
}
