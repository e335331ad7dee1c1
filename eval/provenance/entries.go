package provenance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Entries are the lines of a bundle: nodes by key, then verdicts as results order them.
type Entries struct {
	Nodes    []Node
	Verdicts []Verdict
}

// Node is a node that a verdict depends on.
type Node struct {
	Key     cache.Key      `json:"key"` // SHA-256 of its manifest
	Addr    string         `json:"addr"`
	Kind    string         `json:"kind"`
	Run     string         `json:"run"` // run that did the work
	Class   cache.Class    `json:"class"`
	Outputs []cache.Output `json:"outputs"`
	Inputs  []cache.Key    `json:"inputs,omitempty"` // nodes whose outputs the manifest names
}

// Verdict is the verdict on a checkpoint of a cell, or on a cell with only one.
type Verdict struct {
	Problem    string `json:"problem"`
	Checkpoint string `json:"checkpoint,omitempty"`
	Solution   string `json:"solution"`
	Backend    string `json:"backend"`
	Repeat     int    `json:"repeat"`
	// Imported means that another tool judged it, without proof here.
	Imported bool `json:"imported,omitempty"`
	// Node made Result, whose content is Verdict without the tests; the node's address in the run is Addr.
	// All three are empty for a checkpoint that was not judged.
	Addr    string              `json:"addr,omitempty"`
	Node    *cache.Key          `json:"node,omitempty"`
	Result  *cache.Digest       `json:"result,omitempty"`
	Verdict *verdict.Checkpoint `json:"verdict"`
}

// Name returns problem/checkpoint/solution@backend.
func (v *Verdict) Name() string {
	return plan.CellID{Problem: v.Problem, Checkpoint: v.Checkpoint, Solution: v.Solution, Backend: v.Backend, Repeat: v.Repeat}.String()
}

// line is a line of the entries: a node or a verdict.
type line struct {
	Node    *Node    `json:"node,omitempty"`
	Verdict *Verdict `json:"verdict,omitempty"`
}

// encode returns the lines.
func (e *Entries) encode() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for i := range e.Nodes {
		if err := encoder.Encode(line{Node: &e.Nodes[i]}); err != nil {
			return nil, err
		}
	}
	for i := range e.Verdicts {
		if err := encoder.Encode(line{Verdict: &e.Verdicts[i]}); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// digestOf returns the SHA-256 of encoded entries in hexadecimal digits.
func digestOf(text []byte) string { return cache.SumBytes(text).Hex() }

var errOrder = errors.New("entries must be unique, nodes in the order of their keys, and verdicts after them")

// decode parses the result of encode.
func decode(text []byte) (*Entries, error) {
	e, names, number := &Entries{}, map[string]bool{}, 0
	for one := range bytes.Lines(text) {
		number++
		var l line
		decoder := json.NewDecoder(bytes.NewReader(one))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&l); err != nil {
			return nil, fmt.Errorf("line %d of the entries: %w", number, err)
		}
		if err := e.add(l, names); err != nil {
			return nil, fmt.Errorf("line %d of the entries: %w", number, err)
		}
	}
	return e, nil
}

func (e *Entries) add(l line, names map[string]bool) error {
	switch {
	case (l.Node == nil) == (l.Verdict == nil):
		return errors.New("want a node or a verdict")
	case l.Node != nil:
		if last := len(e.Nodes) - 1; len(e.Verdicts) > 0 || last >= 0 && bytes.Compare(e.Nodes[last].Key[:], l.Node.Key[:]) >= 0 {
			return errOrder
		}
		e.Nodes = append(e.Nodes, *l.Node)
	default:
		if l.Verdict.Verdict == nil || (l.Verdict.Node == nil) != (l.Verdict.Result == nil) || l.Verdict.Checkpoint != l.Verdict.Verdict.Name {
			return errors.New("a verdict is incomplete")
		}
		if names[l.Verdict.Name()] {
			return errOrder
		}
		names[l.Verdict.Name()] = true
		e.Verdicts = append(e.Verdicts, *l.Verdict)
	}
	return nil
}
