package draw

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hostile = "</text><script>alert(1)</script>\u202e\x1b\x00]]>&lt;\"'"

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		scale Scale
		most  int
		want  []float64
	}{
		{Scale{From: 0, To: 1}, 6, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{Scale{From: 1, To: 0}, 3, []float64{0, 0.5, 1}},
		{Scale{From: -7, To: 8}, 4, []float64{-5, 0, 5}},
		{Scale{From: 0.02, To: 3, Log: true}, 5, []float64{0.03, 0.1, 0.3, 1, 3}},
		{Scale{From: 2.1, To: 2.9, Log: true}, 3, []float64{2.2, 2.6}},
		{Scale{From: 2.2, To: 4.4, Log: true}, 3, []float64{3, 4}},
		{Scale{From: 2, To: 60, Log: true}, 2, []float64{3, 30}},
		{Scale{From: 4, To: 4}, 3, []float64{4}},
	} {
		got := test.scale.Ticks(test.most)
		if diff := cmp.Diff(test.want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
			t.Errorf("%+v: %s", test.scale, diff)
		}
	}
}

func TestScale(t *testing.T) {
	s := Scale{From: 1, To: 100, Start: 10, End: 30, Log: true}
	for v, want := range map[float64]float64{0.5: 10, 1: 10, 10: 20, 100: 30, 1000: 30} {
		if got := s.At(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v is at %v, want %v", v, got, want)
		}
	}
}

// Text on every shade has the contrast that WCAG 2 requires.
func TestShadesAreReadable(t *testing.T) {
	for _, pair := range [][2]string{{"#ffffff", "#000000"}, {"#000000", "#ffffff"}, {"#767676", "#000000"}, {"#0a4580", "#ffffff"}} {
		if got := readable(pair[0]); got != pair[1] {
			t.Errorf("on %s is %s, want %s", pair[0], got, pair[1])
		}
	}
	if ShadeOf(-1) != 0 || ShadeOf(0.5) != 5 || ShadeOf(2) != Shades-1 {
		t.Errorf("shades %d, %d, %d", ShadeOf(-1), ShadeOf(0.5), ShadeOf(2))
	}
}

// A file is well-formed XML with only shapes, for any text.
func TestSVGIsInert(t *testing.T) {
	f := Figure{Name: "f", Title: hostile, Note: strings.Repeat(hostile+" ", 30), Columns: []string{"a", hostile}, Rows: [][]string{{"=1+1", "2"}},
		Plot: func(width float64) *Drawing {
			d := &Drawing{Width: width, Height: 100}
			d.Rectangle(1, 2, 3, 4, "fs0", hostile)
			d.Line(0, 0, 10, 10, "kgrid", hostile)
			d.Dot(5, 5, 2, "fs1", hostile)
			d.Polyline([][2]float64{{0, 0}, {5, 5.25}}, "ks1", hostile)
			d.Text(1, 1, "end", "ftext", hostile)
			d.TurnedText(1, 1, "ftext", hostile)
			return d
		}}
	var b strings.Builder
	if err := f.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	allowed := []string{"svg", "title", "style", "g", "rect", "line", "circle", "path", "text"}
	decoder := xml.NewDecoder(strings.NewReader(b.String()))
	var path string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains(allowed, start.Name.Local) {
			t.Errorf("element %s", start.Name.Local)
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "script") {
				t.Errorf("attribute %s of %s: %s", a.Name.Local, start.Name.Local, a.Value)
			}
			if start.Name.Local == "path" && a.Name.Local == "d" {
				path = a.Value
			}
		}
	}
	if strings.ContainsAny(b.String(), "\u202e\x1b\x00") {
		t.Error("characters that steer text are in the file")
	}
	if path != "M0 0L5 5.3" {
		t.Errorf("path %q", path)
	}
	b.Reset()
	if err := f.WriteCSV(&b, func(s string) string { return "<" + s + ">" }); err != nil {
		t.Fatal(err)
	}
	if want := "<=1+1>,<2>\r\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("%q does not end with %q", b.String(), want)
	}
}
