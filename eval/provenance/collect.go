package provenance

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// GoneError says that the store no longer has what a verdict rests on.
type GoneError struct{ Name string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the store no longer has what the verdict on %s rests on", e.Name)
}

// Collect finds what the verdicts of a run rest on. Keys are those of the run's nodes, by
// address. The error is a *GoneError when a record is no longer in the store.
func Collect(ctx context.Context, store cache.Store, keys map[string]cache.Key, results *report.Results) (*Entries, error) {
	c := collector{ctx: ctx, store: store, addrs: map[cache.Key]string{}, nodes: map[cache.Key]*Node{}, makers: map[string]cache.Key{}}
	for addr, key := range keys {
		if was, ok := c.addrs[key]; !ok || addr < was {
			c.addrs[key] = addr
		}
	}
	if err := c.readMakers(); err != nil {
		return nil, err
	}
	e := &Entries{}
	for i := range results.Cells {
		cell := &results.Cells[i]
		for _, listed := range cell.Listed() {
			v := Verdict{Problem: cell.Problem, Checkpoint: listed.Name, Solution: cell.Solution, Backend: cell.Backend, Repeat: cell.Repeat,
				Imported: cell.Imported != nil, Verdict: listed.Verdict()}
			for _, addr := range plan.ResultCell(cell).At(v.Checkpoint).GradedAt() {
				if key, ok := keys[addr]; ok && !v.Imported {
					if err := c.prove(&v, addr, key); err != nil {
						return nil, err
					}
					break
				}
			}
			e.Verdicts = append(e.Verdicts, v)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(c.nodes), func(a, b cache.Key) int { return bytes.Compare(a[:], b[:]) }) {
		e.Nodes = append(e.Nodes, *c.nodes[key])
	}
	return e, nil
}

type collector struct {
	ctx    context.Context
	store  cache.Store
	addrs  map[cache.Key]string
	makers map[string]cache.Key // of outputs, by their digests
	nodes  map[cache.Key]*Node  // those that verdicts rest on
}

// readMakers finds out which node made what. Of several that made the same, such as two equal
// submissions, the first by key counts: each proves where it comes from.
func (c *collector) readMakers() error {
	for key := range c.addrs {
		r, err := c.store.Record(c.ctx, key)
		if err != nil {
			return err
		}
		if r == nil {
			continue // unless a verdict rests on it, nobody misses it
		}
		for _, o := range r.Outputs {
			if was, ok := c.makers[o.Digest.String()]; !ok || bytes.Compare(key[:], was[:]) < 0 {
				c.makers[o.Digest.String()] = key
			}
		}
	}
	return nil
}

// prove adds the node of a verdict, and all that it rests on.
func (c *collector) prove(v *Verdict, addr string, key cache.Key) error {
	for stack := []cache.Key{key}; len(stack) > 0; {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if c.nodes[at] != nil {
			continue
		}
		n, err := c.node(at)
		if err != nil {
			return err
		}
		if n == nil {
			return &GoneError{Name: v.Name()}
		}
		c.nodes[at] = n
		stack = append(stack, n.Inputs...)
	}
	v.Addr, v.Node = addr, &key
	for _, o := range c.nodes[key].Outputs {
		if o.Name == tasks.ResultOutput {
			v.Result = &o.Digest
			return nil
		}
	}
	return &GoneError{Name: v.Name()}
}

// node reads the record of a key; nil when it is gone.
func (c *collector) node(key cache.Key) (*Node, error) {
	r, err := c.store.Record(c.ctx, key)
	if err != nil || r == nil {
		return nil, err
	}
	fields, err := graph.DecodeManifest(r.Manifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.addrs[key], err)
	}
	n := &Node{Key: key, Addr: c.addrs[key], Run: r.Run, Class: r.Class, Outputs: r.Outputs}
	for _, f := range fields {
		if f.Label == "kind" {
			n.Kind = f.Value
		}
		if maker, ok := c.makers[f.Value]; ok && maker != key && !slices.Contains(n.Inputs, maker) {
			n.Inputs = append(n.Inputs, maker)
		}
	}
	return n, nil
}
