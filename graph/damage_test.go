package graph

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
)

// TestHealsManyBlobsAtOnce: however many blobs of a dependency are damaged, it
// is made again once.
func TestHealsManyBlobsAtOnce(t *testing.T) {
	const blobs = 3 * maxPostponements
	dir := t.TempDir()
	p := diskProject(t, dir)
	var names []string
	for i := range blobs {
		names = append(names, fmt.Sprint("out", i))
	}
	makes := &step{work: func(ctx context.Context, w *Work) (o Outcome, err error) {
		for _, name := range names {
			d, err := cache.PutBytes(ctx, w.Store, []byte("content of "+name))
			if err != nil {
				return o, err
			}
			o.Outputs = append(o.Outputs, cache.Output{Name: name, Digest: d})
		}
		return o, nil
	}}
	reads := &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		for _, name := range names {
			d, _ := w.Input("a", name)
			if _, err := cache.ReadBlob(ctx, w.Store, d, -1); err != nil {
				return Outcome{}, err
			}
		}
		return out(ctx, w, "read")
	}}
	g := New()
	a := add(g, "a", makes)
	g.Add(Node{Addr: "b", Kind: "step", Task: reads, Deps: []Dep{{On: a, As: "a", Outputs: names}}})
	r := p.execute(g)
	for _, o := range r.Status(a).Outputs {
		hex := o.Digest.Hex()
		file := filepath.Join(dir, "cas", hex[:2], hex)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.ReplaceAll(b, []byte("content of "+o.Name), []byte("CONTENT OF "+o.Name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := p.options()
	o.Force = func(n *Node) bool { return n.Addr == "b" }
	r = p.executeWith(t.Context(), g, o)
	wantStates(t, g, r, "a done", "b done")
	if made, read := makes.ran.Load(), reads.ran.Load(); made != 2 || read != 3 {
		t.Errorf("made %d times and read %d times, want 2 and 3", made, read)
	}
}
