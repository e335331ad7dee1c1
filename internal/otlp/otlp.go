// Package otlp sends a run as spans of OpenTelemetry to an OTLP endpoint over HTTP: the run, its cells, and the nodes
// that did work. A Recorder is an event.Sink that collects the data of spans. Send sends them after the run, so that
// a slow or unreachable endpoint does not delay it.
//
// Headers, certificates and compression follow the variables OTEL_EXPORTER_OTLP_* of the process.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/fevalgraph/fevalgraph/event"
)

const (
	tracesPath = "/v1/traces"     // for an endpoint without a path
	patience   = 10 * time.Second // total time for sending
	perRequest = 512              // number of spans
)

// Cell is a cell of the run. The addresses of its nodes, after their kind, begin with Prefix and end with
// Suffix.
type Cell struct {
	Problem, Solution, Backend string
	Repeat                     int
	Outcome                    string
	Suffix                     string // "/solution@local.host"
}

// Recorder keeps the events of a run. It is safe for concurrent use.
type Recorder struct {
	endpoint string

	mu     sync.Mutex
	start  event.RunStart
	end    event.RunEnd
	starts map[string]event.NodeStart // last attempt by address
	nodes  []event.NodeDone
}

// New returns a Recorder for an endpoint, such as "http://127.0.0.1:4318". A URL with a path is used unchanged.
func New(endpoint string) (*Recorder, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of an OTLP endpoint (hint: http://127.0.0.1:4318)", endpoint)
	}
	if u.User != nil {
		return nil, fmt.Errorf("%s contains credentials (hint: set OTEL_EXPORTER_OTLP_HEADERS)", u.Redacted())
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = tracesPath
	}
	return &Recorder{endpoint: u.String(), starts: map[string]event.NodeStart{}}, nil
}

// Emit implements event.Sink.
func (r *Recorder) Emit(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case event.RunStart:
		r.start = e
	case event.NodeStart:
		r.starts[e.Addr] = e
	case event.NodeDone:
		if _, worked := r.starts[e.Addr]; worked {
			r.nodes = append(r.nodes, e)
		}
	case event.RunEnd:
		r.end = e
	}
}

// Send sends the spans. An error names the endpoint; it does not mean that the run failed.
func (r *Recorder) Send(ctx context.Context, cells []Cell) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.start.Time.IsZero() {
		return nil // no run started
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	to, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(r.endpoint), otlptracehttp.WithTimeout(patience), otlptracehttp.WithProxy(r.stay))
	if err != nil {
		return r.failed(err)
	}
	sent := &exporter{Exporter: to}
	about := resource.NewSchemaless(attribute.String("service.name", "fevalgraph"), attribute.String("service.version", r.start.Version))
	p := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithBatcher(sent, sdktrace.WithBlocking(), sdktrace.WithMaxExportBatchSize(perRequest), sdktrace.WithExportTimeout(patience)))
	r.spans(ctx, p.Tracer("github.com/fevalgraph/fevalgraph"), cells)
	end := p.Shutdown(ctx)
	return r.failed(errors.Join(sent.first(), end))
}

// stay returns the proxy of a request, and refuses a redirect to another host, which would get the headers of
// OTEL_EXPORTER_OTLP_HEADERS.
func (r *Recorder) stay(to *http.Request) (*url.URL, error) {
	if u, err := url.Parse(r.endpoint); err != nil || to.URL.Host != u.Host || to.URL.Scheme != u.Scheme {
		return nil, fmt.Errorf("it redirects to %s://%s, where nothing is sent", to.URL.Scheme, to.URL.Host)
	}
	return http.ProxyFromEnvironment(to)
}

func (r *Recorder) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sending spans to %s: %w", r.endpoint, err)
}

// exporter keeps the first error, and then sends nothing more.
type exporter struct {
	*otlptrace.Exporter
	mu  sync.Mutex
	err error
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = e.Exporter.ExportSpans(ctx, spans)
	}
	return nil // Send returns the first one
}

func (e *exporter) first() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// period is a span of time.
type period struct{ from, to time.Time }

// cover extends a period to contain another.
func (p *period) cover(q period) {
	if p.from.IsZero() || q.from.Before(p.from) {
		p.from = q.from
	}
	if q.to.After(p.to) {
		p.to = q.to
	}
}

func (r *Recorder) periodOf(n *event.NodeDone) period {
	from := r.starts[n.Addr].Time
	return period{from, from.Add(seconds(n.Seconds))}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// spans creates the spans of the run.
func (r *Recorder) spans(ctx context.Context, t trace.Tracer, cells []Cell) {
	e := &r.end
	whole := period{r.start.Time, r.start.Time.Add(seconds(e.Seconds))}
	for i := range r.nodes { // also for a run without an end
		whole.cover(r.periodOf(&r.nodes[i]))
	}
	ctx, run := begin(ctx, t, "run", whole, attribute.String("fevalgraph.run", r.start.Run), attribute.String("fevalgraph.selection", r.start.Selection),
		attribute.Int("fevalgraph.exit", e.Exit), attribute.Int("fevalgraph.executed", e.Executed), attribute.Int("fevalgraph.cached", e.Cached),
		attribute.Int("fevalgraph.failed", e.Failed), attribute.Int("fevalgraph.broken", e.Broken), attribute.String("fevalgraph.verdicts", e.Verdicts))
	if e.Broken > 0 {
		run.SetStatus(codes.Error, "nodes broke")
	}
	byCell, shared := r.divide(cells)
	for _, i := range shared {
		r.node(ctx, t, &r.nodes[i])
	}
	for _, c := range slices.Sorted(maps.Keys(byCell)) {
		var of period
		for _, i := range byCell[c] {
			of.cover(r.periodOf(&r.nodes[i]))
		}
		cell := &cells[c]
		within, span := begin(ctx, t, cell.Problem+cell.Suffix, of, attribute.String("fevalgraph.problem", cell.Problem), attribute.String("fevalgraph.solution", cell.Solution),
			attribute.String("fevalgraph.backend", cell.Backend), attribute.Int("fevalgraph.repeat", cell.Repeat), attribute.String("fevalgraph.outcome", cell.Outcome))
		for _, i := range byCell[c] {
			r.node(within, t, &r.nodes[i])
		}
		span.End(trace.WithTimestamp(of.to))
	}
	run.End(trace.WithTimestamp(whole.to))
}

func begin(ctx context.Context, t trace.Tracer, name string, of period, about ...attribute.KeyValue) (context.Context, trace.Span) {
	return t.Start(ctx, name, trace.WithTimestamp(of.from), trace.WithAttributes(about...))
}

// node creates the span of a node's last attempt.
func (r *Recorder) node(ctx context.Context, t trace.Tracer, n *event.NodeDone) {
	of := r.periodOf(n)
	_, span := begin(ctx, t, n.Addr, of, attribute.String("fevalgraph.kind", n.Kind), attribute.String("fevalgraph.state", string(n.State)),
		attribute.String("fevalgraph.cause", n.Cause), attribute.String("fevalgraph.category", string(n.Category)), attribute.String("fevalgraph.key", n.Key),
		attribute.Int("fevalgraph.attempt", n.Attempt), attribute.String("fevalgraph.pool", r.starts[n.Addr].Pool))
	if n.State != event.Done && n.State != event.Cached {
		span.SetStatus(codes.Error, n.Message)
	}
	span.End(trace.WithTimestamp(of.to))
}

// divide returns the indices of nodes by the indices of their cells, and those of other nodes.
func (r *Recorder) divide(cells []Cell) (byCell map[int][]int, shared []int) {
	type ends struct{ problem, suffix string }
	known := make(map[ends]int, len(cells))
	for i, c := range cells {
		known[ends{c.Problem, c.Suffix}] = i
	}
	find := func(addr string) (int, bool) {
		_, name, _ := strings.Cut(addr, ":")
		for to := len(name) - 1; to > 0; to-- {
			if name[to] != '/' {
				continue
			}
			for from := 1; from <= to; from++ {
				if name[from] == '/' {
					if cell, ok := known[ends{name[:from], name[to:]}]; ok {
						return cell, true
					}
				}
			}
		}
		return 0, false
	}
	byCell = map[int][]int{}
	for i := range r.nodes {
		if cell, ok := find(r.nodes[i].Addr); ok {
			byCell[cell] = append(byCell[cell], i)
		} else {
			shared = append(shared, i)
		}
	}
	return byCell, shared
}
