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

// GoneError means that the store has lost evidence for a verdict.
type GoneError struct{ Name string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the store no longer contains the evidence for the verdict on %s", e.Name)
}

// Answered is a node of a run.
type Answered struct {
	Addr string
	Key  cache.Key // zero without an answer
}

// Collect finds the evidence for the verdicts of a run. It returns the nodes of the run in topological
// order. Without an answer of the grading node, a verdict is not proven. The error is a *GoneError if the
// store has lost a record.
func Collect(ctx context.Context, store cache.Store, answered []Answered, results *report.Results) (*Entries, error) {
	c := collector{ctx: ctx, store: store, answered: answered, places: map[cache.Key]int{}, nodes: map[cache.Key]*Node{}, makers: map[string][]int{}}
	keys := make(map[string]cache.Key, len(answered))
	for i, a := range answered {
		keys[a.Addr] = a.Key
		if _, ok := c.places[a.Key]; !ok && !a.Key.IsZero() { // equal nodes count once
			c.places[a.Key] = i
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
				key, ok := keys[addr]
				if !ok || v.Imported {
					continue
				}
				if !key.IsZero() {
					if err := c.prove(&v, addr, key); err != nil {
						return nil, err
					}
				}
				break
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
	ctx      context.Context
	store    cache.Store
	answered []Answered
	places   map[cache.Key]int   // index of the first node with a key
	makers   map[string][]int    // indices of nodes by output digest, in order
	nodes    map[cache.Key]*Node // the evidence for verdicts
}

// readMakers indexes nodes by their outputs.
func (c *collector) readMakers() error {
	for i, a := range c.answered {
		if a.Key.IsZero() || c.places[a.Key] != i {
			continue
		}
		r, err := c.store.Record(c.ctx, a.Key)
		if err != nil {
			return err
		}
		if r == nil {
			continue // prove reports the error if a verdict depends on it
		}
		for _, o := range r.Outputs {
			digest := o.Digest.String()
			c.makers[digest] = append(c.makers[digest], i)
		}
	}
	return nil
}

// maker returns the node whose output a node used. Many can have made the same output, such as an empty log:
// it prefers the last one in the same cell before the node, and never makes a node depend on itself.
func (c *collector) maker(digest string, of cache.Key) (cache.Key, bool) {
	all := c.makers[digest]
	at, _ := slices.BinarySearch(all, c.places[of])
	if at == 0 {
		return cache.Key{}, false
	}
	return c.answered[all[at-1]].Key, true
}

// prove adds the node of a verdict and its dependencies.
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

// node reads the record of a key. It returns nil if that record, or the record of a node whose output it used,
// is gone.
func (c *collector) node(key cache.Key) (*Node, error) {
	r, err := c.store.Record(c.ctx, key)
	if err != nil || r == nil {
		return nil, err
	}
	addr := c.answered[c.places[key]].Addr
	fields, err := graph.DecodeManifest(r.Manifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	n := &Node{Key: key, Addr: addr, Run: r.Run, Class: r.Class, Outputs: r.Outputs}
	for _, f := range fields {
		if f.Label == "kind" {
			n.Kind = f.Value
		}
		if !f.Digest {
			continue
		}
		maker, ok := c.maker(f.Value, key)
		if !ok {
			return nil, nil
		}
		if !slices.Contains(n.Inputs, maker) {
			n.Inputs = append(n.Inputs, maker)
		}
	}
	return n, nil
}
