package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Encoded are results in the json format, cell by cell, so that a cell can be
// replaced without the others being encoded again.
type Encoded struct {
	Run   string
	Cells [][]byte // objects, in order
}

// Encode encodes every cell of r.
func Encode(r *Results) (*Encoded, error) {
	e := &Encoded{Run: r.Run, Cells: make([][]byte, len(r.Cells))}
	var all bytes.Buffer
	ends := make([]int, len(r.Cells))
	encoder := encoder(&all)
	for i, cell := range withLists(r).Cells {
		if err := encoder.Encode(cell); err != nil {
			return nil, fmt.Errorf("encoding results: %w", err)
		}
		all.Truncate(all.Len() - 1) // the newline
		ends[i] = all.Len()
	}
	start := 0
	for i, end := range ends {
		e.Cells[i] = all.Bytes()[start:end:end]
		start = end
	}
	return e, nil
}

// head is what comes before the first cell.
func (e *Encoded) head() ([]byte, error) {
	var run bytes.Buffer
	if err := encoder(&run).Encode(e.Run); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"schema":%d,"run":%s,"cells":[`, Schema, bytes.TrimSuffix(run.Bytes(), []byte("\n"))), nil
}

const encodedTail = "]}\n"

// Parts are what Write writes as json, which is all of them one after the other.
func (e *Encoded) Parts() ([][]byte, error) {
	head, err := e.head()
	if err != nil {
		return nil, fmt.Errorf("encoding results: %w", err)
	}
	parts := append(make([][]byte, 0, 2*len(e.Cells)+2), head)
	for i, cell := range e.Cells {
		if i > 0 {
			parts = append(parts, comma)
		}
		parts = append(parts, cell)
	}
	return append(parts, []byte(encodedTail)), nil
}

var comma = []byte(",")

// Sizes are those of the cells in bytes.
func (e *Encoded) Sizes() []int32 {
	sizes := make([]int32, len(e.Cells))
	for i, cell := range e.Cells {
		sizes[i] = int32(len(cell))
	}
	return sizes
}

// Offsets are where the cells begin in what Parts are, in bytes.
func (e *Encoded) Offsets() ([]int64, error) {
	head, err := e.head()
	if err != nil {
		return nil, fmt.Errorf("encoding results: %w", err)
	}
	offsets := make([]int64, len(e.Cells))
	at := len(head)
	for i, cell := range e.Cells {
		offsets[i] = int64(at)
		at += len(cell) + len(comma)
	}
	return offsets, nil
}

var errNotEncoded = errors.New("reading results: cells of other sizes were written")

// SplitEncoded finds the cells in what Parts were for results of a run, by their
// sizes. It copies nothing.
func SplitEncoded(content []byte, run string, sizes []int32) (*Encoded, error) {
	e := &Encoded{Run: run, Cells: make([][]byte, len(sizes))}
	head, err := e.head()
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(content, head)
	for i, size := range sizes {
		if i > 0 && ok {
			rest, ok = bytes.CutPrefix(rest, comma)
		}
		if !ok || size < 2 || int(size) > len(rest) || rest[0] != '{' || rest[size-1] != '}' {
			return nil, errNotEncoded
		}
		e.Cells[i], rest = rest[:size:size], rest[size:]
	}
	if !ok || string(rest) != encodedTail {
		return nil, errNotEncoded
	}
	return e, nil
}

// Cell decodes one cell as Decode does.
func (e *Encoded) Cell(i int) (*Cell, error) {
	var cell Cell
	err := json.Unmarshal(e.Cells[i], &cell)
	if err == nil {
		err = cell.check()
	}
	if err != nil {
		return nil, fmt.Errorf("decoding results: cell %d: %w", i+1, err)
	}
	return &withLists(&Results{Cells: []Cell{cell}}).Cells[0], nil
}
