package otlp

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/fevalgraph/fevalgraph/event"
)

// endpoint is an OTLP endpoint that keeps the spans it gets.
type endpoint struct {
	*httptest.Server
	mu     sync.Mutex
	spans  []*spans.Span
	about  []string // attributes of resources
	status int      // of every answer, if it is not 0
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.status != 0 {
			w.WriteHeader(e.status)
			return
		}
		if r.URL.Path != "/v1/traces" {
			t.Errorf("sent to %s", r.URL.Path)
		}
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(body)
		}
		content, _ := io.ReadAll(body)
		var got collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(content, &got); err != nil {
			t.Error(err)
		}
		for _, of := range got.ResourceSpans {
			for _, a := range of.Resource.Attributes {
				e.about = append(e.about, a.Key+"="+a.Value.GetStringValue())
			}
			for _, s := range of.ScopeSpans {
				e.spans = append(e.spans, s.Spans...)
			}
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// tree returns the spans as lines, each below its parent: name, start and end in seconds after began.
func (e *endpoint) tree(began time.Time) (lines []string) {
	var show func(parent []byte, depth int)
	show = func(parent []byte, depth int) {
		var here []*spans.Span
		for _, s := range e.spans {
			if string(s.ParentSpanId) == string(parent) {
				here = append(here, s)
			}
		}
		slices.SortFunc(here, func(a, b *spans.Span) int { return strings.Compare(a.Name, b.Name) })
		for _, s := range here {
			at := func(nano uint64) float64 { return time.Unix(0, int64(nano)).Sub(began).Seconds() }
			lines = append(lines, fmt.Sprintf("%s%s %g-%g %s", strings.Repeat("  ", depth), s.Name, at(s.StartTimeUnixNano), at(s.EndTimeUnixNano), s.Status.GetMessage()))
			show(s.SpanId, depth+1)
		}
	}
	show(nil, 0)
	return lines
}

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// record emits a run of two cells; broken breaks a node of the second.
func record(r *Recorder, end bool) {
	r.Emit(event.RunStart{Type: "run.start", Run: "r1", Version: "v1", Time: began})
	node := func(addr string, at, took float64, state event.State, message string) {
		kind, _, _ := strings.Cut(addr, ":")
		r.Emit(event.NodeStart{Type: "node.start", Addr: addr, Kind: kind, Attempt: 1, Time: began.Add(seconds(at))})
		r.Emit(event.NodeDone{Type: "node.done", Addr: addr, Kind: kind, State: state, Seconds: took, Attempt: 1, Message: message})
	}
	node("submission:kv/one/a", 0, 1, event.Done, "")
	node("pytest:kv/one/a@local.host", 1, 2, event.Done, "")
	node("parse:kv/one/a@local.host", 3, 1, event.Done, "")
	node("pytest:kv/one/b@local.host", 1, 1, event.Broken, "no space is left")
	r.Emit(event.NodeDone{Type: "node.done", Addr: "pytest:kv/one/c@local.host", Kind: "pytest", State: event.Cached})
	if end {
		r.Emit(event.RunEnd{Type: "run.end", Run: "r1", Seconds: 5, Exit: 3, Executed: 4, Broken: 1})
	}
}

var cells = []Cell{
	{Problem: "kv", Solution: "a", Backend: "local.host", Repeat: 1, Outcome: "passed", Suffix: "/a@local.host"},
	{Problem: "kv", Solution: "b", Backend: "local.host", Repeat: 1, Outcome: "errored", Suffix: "/b@local.host"},
}

func TestSend(t *testing.T) {
	for _, end := range []bool{true, false} {
		e := newEndpoint(t)
		r, err := New(e.URL)
		if err != nil {
			t.Fatal(err)
		}
		record(r, end)
		if err := r.Send(context.Background(), cells); err != nil {
			t.Fatal(err)
		}
		run := "run 0-5 nodes broke"
		if !end { // of a run that was cut off
			run = "run 0-4 "
		}
		want := []string{
			run,
			"  kv/a@local.host 1-4 ",
			"    parse:kv/one/a@local.host 3-4 ",
			"    pytest:kv/one/a@local.host 1-3 ",
			"  kv/b@local.host 1-2 ",
			"    pytest:kv/one/b@local.host 1-2 no space is left",
			"  submission:kv/one/a 0-1 ",
		}
		if diff := cmp.Diff(want, e.tree(began)); diff != "" {
			t.Error(diff)
		}
		if !slices.Contains(e.about, "service.name=fevalgraph") || !slices.Contains(e.about, "service.version=v1") {
			t.Errorf("resource: %q", e.about)
		}
	}
}

// More spans than one request takes all arrive.
func TestMany(t *testing.T) {
	e := newEndpoint(t)
	r, _ := New(e.URL)
	r.Emit(event.RunStart{Run: "r", Time: began})
	const nodes = 10*perRequest + 1
	for i := range nodes {
		addr := fmt.Sprintf("task:%d", i)
		r.Emit(event.NodeStart{Addr: addr, Time: began})
		r.Emit(event.NodeDone{Addr: addr, State: event.Done})
	}
	if err := r.Send(context.Background(), nil); err != nil || len(e.spans) != nodes+1 {
		t.Errorf("%d spans, %v", len(e.spans), err)
	}
}

// TestRedirect: the headers of an endpoint stay with its host.
func TestRedirect(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=secret")
	elsewhere := newEndpoint(t)
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL+tracesPath, status))
		defer moved.Close()
		r, err := New(moved.URL)
		if err != nil {
			t.Fatal(err)
		}
		record(r, true)
		if err := r.Send(t.Context(), cells); err == nil || !strings.Contains(err.Error(), "redirects to "+elsewhere.URL) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if len(elsewhere.spans) > 0 {
		t.Errorf("%d spans arrived elsewhere", len(elsewhere.spans))
	}
}

func TestFailures(t *testing.T) {
	for _, bad := range []string{"", "localhost:4318", "ftp://host", "http://", "http://[::1"} {
		if _, err := New(bad); err == nil || !strings.Contains(err.Error(), "hint") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	refusing := newEndpoint(t)
	refusing.status = http.StatusForbidden
	gone := newEndpoint(t)
	gone.Close()
	for _, e := range []*endpoint{refusing, gone} {
		r, _ := New(e.URL)
		record(r, true)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := r.Send(ctx, cells); err == nil || !strings.Contains(err.Error(), e.URL) {
			t.Errorf("%v", err)
		}
	}
	if _, err := New("http://me:secret@127.0.0.1:4318"); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_HEADERS") {
		t.Errorf("credentials: %v", err)
	}
	never, _ := New("http://127.0.0.1:1")
	if err := never.Send(context.Background(), nil); err != nil {
		t.Errorf("no run: %v", err)
	}
}
