package draw

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// A flow has a box for each node in its column, for any names, and edges that lead to the right.
func TestFlow(t *testing.T) {
	boxes := []Box{{Name: "a", Note: "done", Role: "good", Title: hostile}, {Name: hostile, Column: 2}, {Name: strings.Repeat("ü", 60) + "\x01", Column: 2}}
	d := Flow(boxes, [][2]int{{0, 1}, {0, 2}})
	lefts, edges, right := map[float64]int{}, 0, 0.0
	for _, s := range d.Shapes {
		switch s.Kind {
		case Rectangle:
			lefts[s.X]++
			right = max(right, s.X+s.W)
		case Path:
			edges++
		}
	}
	if len(lefts) != 2 || edges != 2 || right > d.Width {
		t.Errorf("columns at %v, %d edges, %v of %v wide", lefts, edges, right, d.Width)
	}
	for _, drawing := range []*Drawing{d, Flow(nil, nil)} {
		var b strings.Builder
		if err := drawing.WriteSVG(&b, hostile); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\u202e\x1b\x01") || strings.Contains(b.String(), "<script") {
			t.Error("texts are markup, or steer text")
		}
		for decoder := xml.NewDecoder(strings.NewReader(b.String())); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
