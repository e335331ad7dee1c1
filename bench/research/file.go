package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/fevalgraph/fevalgraph/compat/frontier/batch"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// name identifies an evaluation on both sides: a problem, and a solution without directories and extension.
type name struct{ problem, solution string }

func (n name) String() string { return n.problem + " " + n.solution }

// outcome is the result of an evaluation.
type outcome struct {
	status           string
	score, unbounded *float64 // can be NaN or infinite
}

// file is the content of a file, in its order.
type file struct {
	rounded  bool // rounded to batch.Decimals
	names    []name
	outcomes map[name]outcome
}

func (f *file) add(n name, o outcome) error {
	if _, ok := f.outcomes[n]; ok {
		return fmt.Errorf("%s is there twice; results of one backend and one repeat can be compared", n)
	}
	f.names = append(f.names, n)
	f.outcomes[n] = o
	return nil
}

// read reads a file, and detects its format by its content.
func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{outcomes: map[name]outcome{}}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		f.rounded = true
		results, err := batch.DecodeCSV(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return f, f.addBatch(results)
	}
	var kind struct {
		Schema *int `json:"schema"`
	}
	if json.Unmarshal(text, &kind) == nil && kind.Schema != nil {
		results, err := report.Decode(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return f, f.addCells(results.Cells)
	}
	state, err := batch.DecodeState(text)
	if err != nil {
		return nil, err
	}
	return f, f.addBatch(state.Results)
}

func (f *file) addBatch(results []batch.Result) error {
	for _, r := range results {
		if !r.Status.Complete() {
			continue // no result
		}
		if err := f.add(name{r.Problem, r.Name()}, outcome{string(r.Status), r.Score, r.Unbounded}); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) addCells(cells []report.Cell) error {
	for i := range cells {
		c := &cells[i]
		o := outcome{string(c.Status), c.Score, c.ScoreUnbounded}
		for _, p := range c.Listed() {
			if p.Class == verdict.NoSubmission {
				o.unbounded = nil // a batch has a single score for it
			}
			for _, odd := range []struct {
				text string
				into **float64
			}{{p.ScoreText, &o.score}, {p.ScoreUnboundedText, &o.unbounded}} {
				if odd.text == "" {
					continue
				}
				v, err := strconv.ParseFloat(odd.text, 64)
				if err != nil {
					return fmt.Errorf("%s %s: %q is no score", c.Problem, c.Solution, odd.text)
				}
				*odd.into = &v
			}
		}
		if err := f.add(name{c.Problem, c.Solution}, o); err != nil {
			return err
		}
	}
	return nil
}

// errNothing is the error for files without results for an evaluation.
var errNothing = errors.New("missing")

func (f *file) get(n name) (outcome, error) {
	if o, ok := f.outcomes[n]; ok {
		return o, nil
	}
	return outcome{}, errNothing
}

// round returns o rounded as in a results.csv.
func (o outcome) round() outcome {
	return outcome{o.status, rounded(o.score), rounded(o.unbounded)}
}

func rounded(f *float64) *float64 {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return f
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(*f, 'f', batch.Decimals, 64), 64)
	if err != nil {
		return f
	}
	return &r
}
