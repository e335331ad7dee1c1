// Package draw lays out figures as a few kinds of shapes and writes them as SVG. A page draws the same
// shapes, so that a figure looks the same in a browser and in a file.
//
// Shapes name the role of their colors, such as "s0" for the first of several series; the style has
// each role in light and dark.
package draw

import (
	"math"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Kinds of shapes.
const (
	Rectangle = "rect"
	Line      = "line"
	Circle    = "circle"
	Path      = "path"
	Text      = "text"
)

// Shape is a mark of a drawing. Coordinates are pixels from its upper left corner. Pages read its JSON.
type Shape struct {
	Kind   string  `json:"k"`
	Class  string  `json:"c,omitempty"` // roles, separated by spaces
	X      float64 `json:"x,omitempty"` // left edge, center, or anchor
	Y      float64 `json:"y,omitempty"` // upper edge, center, or middle of the text
	W      float64 `json:"w,omitempty"` // width; for lines the end minus X
	H      float64 `json:"h,omitempty"` // height; for lines the end minus Y
	R      float64 `json:"r,omitempty"` // radius
	Path   string  `json:"d,omitempty"`
	Anchor string  `json:"a,omitempty"` // for text: start (default), middle or end
	Text   string  `json:"s,omitempty"`
	Turned bool    `json:"t,omitempty"` // text runs upwards
	Title  string  `json:"o,omitempty"` // tooltip
}

// Drawing is a figure at a certain width.
type Drawing struct {
	Width  float64 `json:"w"`
	Height float64 `json:"h"`
	Shapes []Shape `json:"shapes"`
}

// round rounds positions to a tenth of a pixel.
func round(v float64) float64 { return math.Round(10*v) / 10 }

func (d *Drawing) add(s Shape) {
	s.X, s.Y, s.W, s.H = round(s.X), round(s.Y), round(s.W), round(s.H)
	d.Shapes = append(d.Shapes, s)
}

// Rectangle adds a rectangle.
func (d *Drawing) Rectangle(x, y, w, h float64, class, title string) {
	d.add(Shape{Kind: Rectangle, X: x, Y: y, W: w, H: h, Class: class, Title: title})
}

// Line adds a line between two points.
func (d *Drawing) Line(x1, y1, x2, y2 float64, class, title string) {
	d.add(Shape{Kind: Line, X: x1, Y: y1, W: x2 - x1, H: y2 - y1, Class: class, Title: title})
}

// Dot adds a circle.
func (d *Drawing) Dot(x, y, r float64, class, title string) {
	d.add(Shape{Kind: Circle, X: x, Y: y, R: r, Class: class, Title: title})
}

// Polyline adds a line through points.
func (d *Drawing) Polyline(points [][2]float64, class, title string) {
	var b strings.Builder
	for i, p := range points {
		b.WriteString(map[bool]string{true: "M", false: "L"}[i == 0])
		b.WriteString(number(p[0]) + " " + number(p[1]))
	}
	d.add(Shape{Kind: Path, Path: b.String(), Class: class, Title: title})
}

// Text adds a line of text whose middle is at y. Control characters are escaped.
func (d *Drawing) Text(x, y float64, anchor, class, s string) {
	if anchor == "start" {
		anchor = ""
	}
	d.add(Shape{Kind: Text, X: x, Y: y, Anchor: anchor, Class: class, Text: text.Line(s, 0)})
}

// TurnedText adds a line of text that runs upwards from a point.
func (d *Drawing) TurnedText(x, y float64, class, s string) {
	d.add(Shape{Kind: Text, X: x, Y: y, Class: class, Text: text.Line(s, 0), Turned: true})
}

// letter is the mean width of a letter in pixels, at the size of the style's text.
const letter = 6.6

// TextWidth estimates the width of a text in pixels, without knowing the font.
func TextWidth(s string) float64 { return letter * float64(text.Width(s)) }

// Fit shortens a text to a width in pixels.
func Fit(s string, width float64) string { return text.Line(s, max(1, int(width/letter))) }

// Scale maps values to pixels.
type Scale struct {
	From, To   float64 // values at the ends
	Start, End float64 // pixels at the ends
	Log        bool
}

// At returns the pixel of a value, limited to the ends.
func (s Scale) At(v float64) float64 {
	from, to := s.From, s.To
	if s.Log {
		v, from, to = math.Log(v), math.Log(from), math.Log(to)
	}
	if from == to {
		return (s.Start + s.End) / 2
	}
	if math.IsInf(to-from, 0) {
		v, from, to = v/2, from/2, to/2
	}
	share := (min(max(v, min(from, to)), max(from, to)) - from) / (to - from)
	if math.IsNaN(share) { // v is not a number, or an end is infinite
		share = 0
	}
	return s.Start + share*(s.End-s.Start)
}

// Ticks returns round values within the ends: at most most for a linear scale; for a logarithmic one, powers of
// ten, with their doubles and fives if they fit. There are two or more, unless the ends are equal.
func (s Scale) Ticks(most int) []float64 {
	if !s.Log {
		return s.linearTicks(most)
	}
	var finer []float64
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var all []float64
		for p := math.Floor(math.Log10(max(s.From, math.SmallestNonzeroFloat64))); p <= math.Log10(min(s.To, math.MaxFloat64)); p++ {
			for _, m := range steps {
				if v := m * math.Pow(10, p); v > 0 && !math.IsInf(v, 0) && v >= s.From*(1-1e-9) && v <= s.To*(1+1e-9) {
					all = append(all, v)
				}
			}
		}
		switch {
		case len(all) < 2 && finer == nil: // the ends are near each other
			for n := most; len(all) < 2 && n < most+4; n++ {
				all = s.linearTicks(n)
			}
			return thinOut(all, most)
		case len(all) < 2:
			return thinOut(finer, most)
		case len(all) <= most || len(steps) == 1:
			return thinOut(all, most)
		}
		finer = all
	}
	return nil
}

func (s Scale) linearTicks(most int) []float64 {
	low, high, factor := min(s.From, s.To), max(s.From, s.To), 1.0
	if math.IsInf(high-low, 0) {
		low, high, factor = low/4, high/4, 4
	}
	step := Step((high - low) / float64(max(1, most-1)))
	first := math.Ceil(low/step - 1e-9)
	var all []float64
	for i := range max(1, most) + 2 { // more do not fit
		v := (first + float64(i)) * step
		if !(v <= high+step*1e-9) {
			break
		}
		if v *= factor; !math.IsInf(v, 0) {
			all = append(all, v)
		}
	}
	return thinOut(all, most)
}

// thinOut keeps every second value until there are at most most.
func thinOut(all []float64, most int) []float64 {
	for len(all) > max(2, most) {
		var half []float64
		for i := 0; i < len(all); i += 2 {
			half = append(half, all[i])
		}
		all = half
	}
	return all
}

// Step returns the smallest of 1, 2, 5 and 10 times a power of ten that is at least a length.
func Step(length float64) float64 {
	if !(length > 0) || math.IsInf(length, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(length)))
	if power == 0 {
		return length
	}
	for _, m := range []float64{1, 2, 5} {
		if m*power >= length*(1-1e-9) {
			return m * power
		}
	}
	return min(10*power, math.MaxFloat64)
}
