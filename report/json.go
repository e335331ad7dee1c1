package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// writeJSON writes r as one object on one line.
func writeJSON(w io.Writer, r *Results, _ Options) error {
	return encoder(w).Encode(withLists(r))
}

// encoder writes each value with one call of Write and does not escape <, > and &.
func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// withLists returns r with the current schema, and with empty lists instead of null.
func withLists(r *Results) *Results {
	out := &Results{Schema: Schema, Run: r.Run, Cells: make([]Cell, len(r.Cells)), Tasks: r.Tasks}
	for i, cell := range r.Cells {
		checkpoints := make([]Checkpoint, len(cell.Checkpoints))
		for j, c := range cell.Checkpoints {
			if c.Tests == nil {
				c.Tests = []Test{}
			}
			checkpoints[j] = c
		}
		cell.Checkpoints = checkpoints
		out.Cells[i] = cell
	}
	return out
}

// EncodeCells encodes cells as in the json format, each on a line. All but the first begin with a comma.
func EncodeCells(cells []Cell) ([]byte, error) {
	var all bytes.Buffer
	for i, cell := range withLists(&Results{Cells: cells}).Cells {
		if i > 0 {
			all.WriteByte(',')
		}
		if err := encoder(&all).Encode(cell); err != nil {
			return nil, fmt.Errorf("encoding results: %w", err)
		}
	}
	return all.Bytes(), nil
}

// DecodeCells decodes the result of EncodeCells.
func DecodeCells(b []byte) ([]Cell, error) {
	r, err := Decode(io.MultiReader(strings.NewReader(fmt.Sprintf(`{"schema":%d,"run":"","cells":[`, Schema)), bytes.NewReader(b), strings.NewReader("]}")))
	if err != nil {
		return nil, err
	}
	return r.Cells, nil
}

// SplitCells returns the text of each cell in the result of EncodeCells without decoding it: a newline in a text is
// escaped. Several texts, joined by commas, can be decoded at once. Other input yields parts that do not decode.
func SplitCells(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n,"))
}

// measuredFields lists the fields that differ between equal results of two runs. Quotes in strings are escaped, so none
// of these is part of a string.
var measuredFields = [][]byte{[]byte(`"duration_ms":`), []byte(`"cpu_ms":`), []byte(`"memory_bytes":`)}

// WithoutMeasurements removes time and memory of tests from the text of a cell. The result is for comparisons and does
// not decode.
func WithoutMeasurements(cell []byte) []byte {
	for _, name := range measuredFields {
		rest := make([]byte, 0, len(cell))
		for before, after, found := bytes.Cut(cell, name); found; before, after, found = bytes.Cut(cell, name) {
			rest = append(rest, before...)
			cell = bytes.TrimLeft(after, "0123456789.eE+-")
		}
		cell = append(rest, cell...)
	}
	return cell
}

// Decode reads the json format. Another schema, impossible counts and trailing content are errors. Unknown
// fields are ignored, so that results of later versions can be read.
func Decode(r io.Reader) (*Results, error) {
	d := json.NewDecoder(r)
	var out Results
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("decoding results: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("decoding results: unexpected data after the results object")
	}
	if out.Schema != Schema {
		return nil, fmt.Errorf("decoding results: they have schema %d; this version reads %d", out.Schema, Schema)
	}
	for i := range out.Cells {
		if err := out.Cells[i].check(); err != nil {
			return nil, fmt.Errorf("decoding results: cell %d: %w", i+1, err)
		}
	}
	return withLists(&out), nil
}

// check rejects a cell that no judge can have written, and adds missing groups.
func (cell *Cell) check() error {
	for i := range cell.Checkpoints {
		c := &cell.Checkpoints[i]
		if c.Groups == nil {
			c.Groups = make(verdict.GroupCounts, len(verdict.Groups))
		}
		for _, g := range verdict.Groups {
			n := c.Groups[g]
			if n.Passed < 0 || n.Passed > n.Total {
				return fmt.Errorf("checkpoint %q: %d of %d %s tests passed", c.Name, n.Passed, n.Total, g)
			}
			c.Groups[g] = n
		}
		if c.Passed && c.Class != verdict.Judged {
			return fmt.Errorf("checkpoint %q passed but its class is %q", c.Name, c.Class)
		}
	}
	return nil
}
