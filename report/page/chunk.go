package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/report"
)

const (
	chunkBytes  = 256 << 10 // JSON bytes after which a chunk ends
	keptMessage = 16 << 10  // of a message: its beginning and end together
	keptLog     = 64 << 10  // of a log: its beginning and end together
	keptField   = 512       // of a manifest's value: its beginning and end together
	keptNodes   = 64        // of a cell
)

// chunk is a part of the details, for the cells from First on.
type chunk struct {
	ID    string `json:"id"` // hex SHA-256 of the uncompressed data
	First int    `json:"first"`
}

// details is the page's data about a single cell.
type details struct {
	Cell  *report.Cell `json:"cell"`
	Nodes []Node       `json:"nodes"`
	// More is the number of omitted nodes.
	More int `json:"more,omitempty"`
	// Trees are the indices of the submissions in the chunks of trees, by checkpoint: -1 if unknown, -2 if it
	// did not fit. Empty if all are unknown.
	Trees    []int     `json:"trees,omitempty"`
	Excerpts []excerpt `json:"excerpts,omitempty"`
	// Shown lists indices in Excerpts for tests, by checkpoint and index of the test.
	Shown map[int]map[int][]int `json:"shown,omitempty"`
}

// index returns the index of the page. It passes the other data to put, piece by piece.
func (p *Page) index(put func(id, data string) error) (*index, error) {
	entries := p.Runs[len(p.Runs)-1].Results.Entries()
	contenders := contendersOf(p.Runs[len(p.Runs)-1].Results)
	x, cells := newIndex(p, entries, contenders), cellsOf(entries)
	send := func(v any) (id string, err error) {
		id, data, err := packed(v)
		if err == nil {
			err = put(id, data)
		}
		return id, err
	}
	var places map[string]int
	var err error
	if x.Trees, places, err = p.sendTrees(cells, send); err != nil {
		return nil, err
	}
	var held []json.RawMessage
	size, first := 0, 0
	for i, cell := range cells {
		nodes, err := p.Nodes(cell)
		if err != nil {
			return nil, err
		}
		d := detailsOf(cell, nodes)
		if err := p.addSources(&d, cell, places); err != nil {
			return nil, err
		}
		content, err := json.Marshal(d)
		if err != nil {
			return nil, fmt.Errorf("encoding a report: %w", err)
		}
		if held, size = append(held, content), size+len(content); size < chunkBytes && i < len(cells)-1 {
			continue
		}
		id, err := send(held)
		if err != nil {
			return nil, err
		}
		x.Chunks = append(x.Chunks, chunk{ID: id, First: first})
		held, size, first = nil, 0, i+1
	}
	if len(p.Work) > 0 {
		id, err := send(workOf(p.Work))
		if err != nil {
			return nil, err
		}
		x.Work = id
	}
	if x.Figures, err = send(sheetOf(p.figures(contenders))); err != nil {
		return nil, err
	}
	x.Grids, err = sendGrids(x.Matrix.Problems, gridsOf(cells, x.Matrix.Solutions), send)
	return x, err
}

// sendGrids sends the grids of problems in chunks.
func sendGrids(problems []string, grids map[string]*grid, send func(any) (string, error)) ([]chunk, error) {
	chunks, held, size, first := []chunk{}, []json.RawMessage(nil), 0, 0
	for i, problem := range problems {
		content, err := json.Marshal(grids[problem])
		if err != nil {
			return nil, fmt.Errorf("encoding a report: %w", err)
		}
		if held, size = append(held, content), size+len(content); size < chunkBytes && i < len(problems)-1 {
			continue
		}
		id, err := send(held)
		if err != nil {
			return nil, err
		}
		chunks, held, size, first = append(chunks, chunk{ID: id, First: first}), nil, 0, i+1
	}
	return chunks, nil
}

// packed returns data as the page contains it: compressed, and in an encoding that means nothing to a browser.
func packed(v any) (id, data string, err error) {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err := json.NewEncoder(z).Encode(v); err != nil {
		return "", "", fmt.Errorf("encoding a report: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// detailsOf returns the details of a cell, with long texts shortened.
func detailsOf(cell *report.Cell, nodes []Node) details {
	shown := *cell
	shown.Metric = nil // the same in all cells
	shown.Checkpoints = make([]report.Checkpoint, len(cell.Checkpoints))
	for i, c := range cell.Checkpoints {
		c.Message = cutMessage(c.Message)
		tests := make([]report.Test, len(c.Tests))
		for j, t := range c.Tests {
			t.Message = cutMessage(t.Message)
			tests[j] = t
		}
		c.Tests = tests
		shown.Checkpoints[i] = c
	}
	d := details{Cell: &shown, Nodes: nodes}
	if d.Nodes == nil {
		d.Nodes = []Node{}
	}
	if len(d.Nodes) > keptNodes {
		d.Nodes, d.More = d.Nodes[:keptNodes], len(nodes)-keptNodes
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		n.Log, n.Message, n.Cause = cut(n.Log, keptLog), cut(n.Message, keptMessage), cut(n.Cause, keptMessage)
		for j := range n.Fields {
			n.Fields[j][1] = cut(n.Fields[j][1], keptField)
		}
	}
	return d
}

func cutMessage(s *string) *string {
	if s == nil || len(*s) <= keptMessage {
		return s
	}
	short := cut(*s, keptMessage)
	return &short
}

// cut keeps the beginning and the end of a text, and notes in between how much is missing.
func cut(s string, keep int) string {
	if len(s) <= keep {
		return s
	}
	b := capped.Buffer{Head: keep / 4, Tail: keep - keep/4}
	b.Write([]byte(s))
	return string(b.Bytes())
}

// work encodes the timeline.
type work struct {
	Addr    []string  `json:"addr"`
	Kind    *column   `json:"kind"`
	Pool    *column   `json:"pool"`
	State   *column   `json:"state"`
	Start   []float64 `json:"start"`
	Seconds []float64 `json:"seconds"`
}

func workOf(all []Work) work {
	w := work{Addr: []string{}, Kind: newColumn(len(all)), Pool: newColumn(len(all)), State: newColumn(len(all)), Start: []float64{}, Seconds: []float64{}}
	for _, one := range all {
		w.Addr = append(w.Addr, one.Addr)
		w.Kind.add(one.Kind)
		w.Pool.add(one.Pool)
		w.State.add(one.State)
		w.Start, w.Seconds = append(w.Start, milliseconds(one.Start)), append(w.Seconds, milliseconds(one.Seconds))
	}
	return w
}
