package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// far is a server in memory that takes a while for each call.
type far struct {
	latency time.Duration
	mu      sync.Mutex
	entries map[cache.Key]*execution.ActionResult
	blobs   map[cache.Digest][]byte
}

func (f *far) arrive(ctx context.Context) error {
	select {
	case <-time.After(f.latency):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f.mu.Lock()
	return nil
}

func (f *far) Entry(ctx context.Context, id cache.Key) (*execution.ActionResult, error) {
	if err := f.arrive(ctx); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	return f.entries[id], nil
}

func (f *far) PutEntry(ctx context.Context, id cache.Key, e *execution.ActionResult) error {
	if err := f.arrive(ctx); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.entries[id] = e
	return nil
}

func (f *far) Missing(ctx context.Context, blobs []cache.Digest) (missing []cache.Digest, err error) {
	if err := f.arrive(ctx); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	for _, d := range blobs {
		if _, ok := f.blobs[d]; !ok {
			missing = append(missing, d)
		}
	}
	return missing, nil
}

func (f *far) Read(ctx context.Context, blobs []cache.Digest, into func(cache.Digest, io.Reader) error) error {
	if err := f.arrive(ctx); err != nil {
		return err
	}
	defer f.mu.Unlock()
	for _, d := range blobs {
		if err := into(d, bytes.NewReader(f.blobs[d])); err != nil {
			return err
		}
	}
	return nil
}

func (f *far) Put(ctx context.Context, blobs []cache.Digest, from cache.Source) (map[cache.Digest]error, error) {
	if err := f.arrive(ctx); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	for _, d := range blobs {
		r, err := from.Open(ctx, d)
		if err != nil {
			return nil, err
		}
		f.blobs[d], err = io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (f *far) Close() error { return nil }

// named is a task whose output is its name.
type named string

func (n named) Describe(_ context.Context, m *graph.Manifest) error {
	m.String("name", string(n))
	return nil
}

func (n named) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	d, err := cache.PutBytes(ctx, w.Store, []byte(n))
	return graph.Outcome{Outputs: []cache.Output{{Name: "name", Digest: d}}}, err
}

// TestRoundTrips: a run of 10,000 cached nodes in six levels waits for the server at most 20 times. Its clock stops
// during work, so only waiting takes time.
func TestRoundTrips(t *testing.T) {
	const latency, levels = 100 * time.Millisecond, 6
	wide := longtest.Size(400, 1667)
	g := graph.New()
	var top []graph.ID
	for level := range levels {
		below := top
		top = nil
		for i := range wide {
			n := graph.Node{Addr: fmt.Sprintf("node:%d/%d", level, i), Kind: "node", Task: named(fmt.Sprint(level, "/", i)), Kept: level == levels-1}
			if level > 0 {
				n.Deps = []graph.Dep{{On: below[i], As: "below", Outputs: []string{"name"}}}
			}
			top = append(top, g.Add(n))
		}
	}
	k := key(t, "ci")
	server := &far{entries: map[cache.Key]*execution.ActionResult{}, blobs: map[cache.Digest][]byte{}}
	execute := func(o remote.Options) (*graph.Report, *cache.Layered, *remote.Store) {
		dir := t.TempDir()
		disk, err := cache.OpenDisk(filepath.Join(dir, "store"), cache.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Namespace, o.Signer, o.Local, o.Kept, o.Jobs, o.Together = "main", &k, disk, disk, 2, 20_000
		o.Warn = func(err error) { t.Errorf("warning: %v", err) }
		s := remote.Open(server, o)
		layers := &cache.Layered{Upper: disk, Lower: []cache.Lower{s}, Places: make(chan struct{}, 64), Written: s.Written}
		rep, err := g.Execute(context.Background(), top, graph.Options{Store: layers, Run: "r", Pools: map[string]int{graph.CPUPool: 2}, Limits: graph.Limits{Lookups: 4096}})
		if err != nil {
			t.Fatal(err)
		}
		return rep, layers, s
	}
	_, _, writer := execute(remote.Options{Write: true, Limit: patient})
	if sent, left := writer.Flush(context.Background()); sent != levels*wide || left > 0 {
		t.Fatalf("sent %d, left %d", sent, left)
	}
	writer.Close()

	synctest.Test(t, func(t *testing.T) {
		server.latency = latency
		began := time.Now()
		rep, layers, reader := execute(remote.Options{Read: true, Limit: 4500 * time.Millisecond})
		defer reader.Close()
		var results []cache.Output
		for _, id := range top {
			results = append(results, rep.Status(id).Outputs...)
		}
		layers.Fetch(context.Background(), results)
		trips := float64(time.Since(began)) / float64(latency)
		t.Logf("%d nodes: %.1f round trips", len(rep.Nodes), trips)
		if rep.Cached != levels*wide || trips > 20 {
			t.Errorf("%d of %d nodes were served, in %.1f round trips", rep.Cached, len(rep.Nodes), trips)
		}
	})
}
